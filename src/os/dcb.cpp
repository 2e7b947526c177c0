#include "os/dcb.h"

#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace stoker::os {
namespace {

// Newer than the headers that this is built with (Linux 6.2, include/uapi/linux/dcbnl.h).
constexpr unsigned trust_table = 11;    // DCB_ATTR_DCB_APP_TRUST_TABLE
constexpr unsigned selector_pcp = 255;  // DCB_APP_SEL_PCP
constexpr unsigned most_dscp = 64;      // of six bits
constexpr std::size_t largest_answer =
    32'768;  // the kernel's is one page or two; libmnl's own choice is 8 KiB

struct CloseMnl {
  void operator()(mnl_socket* socket) const { mnl_socket_close(socket); }
};
using Socket = std::unique_ptr<mnl_socket, CloseMnl>;

// The structure that an attribute holds; nullopt: it is shorter.
template <typename T>
std::optional<T> held(const nlattr* attribute) {
  if (mnl_attr_get_payload_len(attribute) < sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, mnl_attr_get_payload(attribute), sizeof value);
  return value;
}

TrafficSelection selection_of(std::uint8_t number) {
  switch (number) {
    case IEEE_8021QAZ_TSA_STRICT: return TrafficSelection::strict;
    case IEEE_8021QAZ_TSA_CB_SHAPER: return TrafficSelection::credit_based;
    case IEEE_8021QAZ_TSA_ETS: return TrafficSelection::ets;
    case IEEE_8021QAZ_TSA_VENDOR: return TrafficSelection::vendor;
    default: return TrafficSelection::unknown;
  }
}

std::string selector_name(unsigned selector) {
  switch (selector) {
    case IEEE_8021QAZ_APP_SEL_ETHERTYPE: return "ethertype";
    case IEEE_8021QAZ_APP_SEL_STREAM: return "stream-port";
    case IEEE_8021QAZ_APP_SEL_DGRAM: return "dgram-port";
    case IEEE_8021QAZ_APP_SEL_ANY: return "port";
    case IEEE_8021QAZ_APP_SEL_DSCP: return "dscp";
    case selector_pcp: return "pcp";
    default: return fmt::format("selector {}", selector);
  }
}

int take_app(const nlattr* attribute, void* out) {
  const auto app = held<dcb_app>(attribute);
  if (!app || app->selector != IEEE_8021QAZ_APP_SEL_DSCP) return MNL_CB_OK;
  if (app->protocol < most_dscp && app->priority < ethernet_priorities)
    static_cast<DcbSettings*>(out)->priority_of_dscp[app->protocol] = app->priority;
  return MNL_CB_OK;
}

int take_trust(const nlattr* attribute, void* out) {
  auto& trust = *static_cast<DcbSettings*>(out)->trust;
  constexpr std::size_t most_selectors = 256;  // each once
  if (const auto selector = held<std::uint8_t>(attribute);
      selector && trust.size() < most_selectors)
    trust.push_back(selector_name(*selector));
  return MNL_CB_OK;
}

void take_ets(const nlattr* attribute, DcbSettings& settings) {
  const auto ets = held<ieee_ets>(attribute);
  if (!ets) return;
  auto& out = settings.ets.emplace();
  std::copy_n(std::begin(ets->prio_tc), out.class_of.size(), out.class_of.begin());
  std::copy_n(std::begin(ets->tc_tx_bw), out.percent.size(), out.percent.begin());
  std::transform(std::begin(ets->tc_tsa), std::end(ets->tc_tsa), out.selection.begin(),
                 selection_of);
}

int take_setting(const nlattr* attribute, void* out) {
  auto& settings = *static_cast<DcbSettings*>(out);
  switch (mnl_attr_get_type(attribute)) {
    case DCB_ATTR_IEEE_PFC:
      if (const auto pfc = held<ieee_pfc>(attribute)) settings.pfc = PriorityMask(pfc->pfc_en);
      break;
    case DCB_ATTR_IEEE_ETS: take_ets(attribute, settings); break;
    case DCB_ATTR_IEEE_APP_TABLE: mnl_attr_parse_nested(attribute, take_app, out); break;
    case trust_table:
      settings.trust.emplace();
      mnl_attr_parse_nested(attribute, take_trust, out);
      break;
    default: break;
  }
  return MNL_CB_OK;
}

struct Answer {
  DcbSettings settings;
  bool came = false;
};

int take_group(const nlattr* attribute, void* out) {
  if (mnl_attr_get_type(attribute) != DCB_ATTR_IEEE) return MNL_CB_OK;
  auto& answer = *static_cast<Answer*>(out);
  answer.came = true;
  return mnl_attr_parse_nested(attribute, take_setting, &answer.settings);
}

int take_message(const nlmsghdr* message, void* out) {
  if (mnl_nlmsg_get_payload_len(message) < sizeof(dcbmsg)) return MNL_CB_OK;
  return mnl_attr_parse(message, sizeof(dcbmsg), take_group, out);
}

Error dcb_error(int number) {
  if (number == EOPNOTSUPP)
    return {ErrorCode::not_supported, "the driver has no Data Center Bridging"};
  return Error::from_errno(number, "ask for Data Center Bridging");
}

// Sends the question; errno where it fails.
int ask(mnl_socket* socket, const std::string& netdev) {
  std::array<std::uint64_t, 32> buffer{};
  nlmsghdr* const message = mnl_nlmsg_put_header(buffer.data());
  message->nlmsg_type = RTM_GETDCB;
  message->nlmsg_flags = NLM_F_REQUEST;
  auto* const question = static_cast<dcbmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(dcbmsg)));
  question->cmd = DCB_CMD_IEEE_GET;
  mnl_attr_put_strz(message, DCB_ATTR_IFNAME, netdev.c_str());
  return mnl_socket_sendto(socket, message, message->nlmsg_len) < 0 ? errno : 0;
}

// Does each message say a length that is there? libmnl reads lengths as signed numbers, and takes one of 2 GiB and more for
// less than nothing.
bool lengths_hold(std::string_view messages) {
  while (!messages.empty()) {
    if (messages.size() < sizeof(nlmsghdr)) return false;
    nlmsghdr head{};
    std::memcpy(&head, messages.data(), sizeof head);
    if (head.nlmsg_len < sizeof head || head.nlmsg_len > messages.size()) return false;
    messages.remove_prefix(std::min<std::size_t>(messages.size(), MNL_ALIGN(head.nlmsg_len)));
  }
  return true;
}

}  // namespace

Result<DcbSettings> parse_dcb_answer(std::string_view messages) {
  if (!lengths_hold(messages))
    return fail(ErrorCode::corrupt, "the kernel's answer is no whole netlink message");
  // libmnl reads headers where they lie, so they have to lie aligned.
  std::vector<std::uint64_t> aligned(messages.size() / sizeof(std::uint64_t) + 1);
  if (!messages.empty()) std::memcpy(aligned.data(), messages.data(), messages.size());
  Answer answer;
  errno = 0;
  if (mnl_cb_run(aligned.data(), messages.size(), 0, 0, take_message, &answer) < 0)
    return fail(dcb_error(errno));
  if (!answer.came)
    return fail(ErrorCode::corrupt, "the kernel's answer has no Data Center Bridging");
  return std::move(answer.settings);
}

Result<DcbSettings> read_dcb(const std::string& netdev) {
  if (netdev.empty() || netdev.size() >= IFNAMSIZ)
    return fail(ErrorCode::invalid_input, fmt::format("{} is no network device's name", netdev));
  const Socket socket(mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC));
  if (!socket) return fail(Error::from_errno(errno, "open a netlink socket"));
  // The answer is there once the question is sent: this is for a kernel that gives none.
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  if (::setsockopt(mnl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &patience,
                   sizeof patience) != 0 ||
      mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) != 0) {
    return fail(Error::from_errno(errno, "bind a netlink socket"));
  }
  if (const int problem = ask(socket.get(), netdev); problem != 0) return fail(dcb_error(problem));
  std::string answer(largest_answer, '\0');
  ssize_t got = -1;
  do {
    got = mnl_socket_recvfrom(socket.get(), answer.data(), answer.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN)
    return fail(ErrorCode::timeout, "the kernel does not answer for Data Center Bridging");
  if (got < 0) return fail(dcb_error(errno));
  return parse_dcb_answer(std::string_view(answer).substr(0, static_cast<std::size_t>(got)));
}

}  // namespace stoker::os
