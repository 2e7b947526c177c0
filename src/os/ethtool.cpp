#include "os/ethtool.h"

#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/unique_fd.h"

namespace stoker::os {
namespace {

constexpr std::size_t most_counters = 65'536;
// The kernel writes as many as there are when it writes, not as many as there were when it was asked (net/ethtool/ioctl.c,
// ethtool_get_stats): room for as many again, and for what a card with few queues may gain.
constexpr std::size_t spare_counters = 4096;

Result<UniqueFd> ethtool_socket(const std::string& netdev) {
  if (netdev.empty() || netdev.size() >= IFNAMSIZ)
    return fail(ErrorCode::invalid_input, fmt::format("{} is no network device's name", netdev));
  UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return fail(Error::from_errno(errno, "open a socket"));
  return socket;
}

// `memory` begins with the ioctl's structure and is as long as the kernel may write; it needs no alignment, for it is
// copied.
Result<void> ask_driver(const UniqueFd& socket, const std::string& netdev, char* memory,
                        const char* what) {
  ifreq request{};
  std::memcpy(&request.ifr_name[0], netdev.c_str(), netdev.size());
  request.ifr_data = memory;
  if (::ioctl(socket.get(), SIOCETHTOOL, &request) == 0) return {};
  if (errno == EOPNOTSUPP)
    return fail(ErrorCode::not_supported, fmt::format("the driver does not tell {}", what));
  return fail(Error::from_errno(errno, fmt::format("ask for {}", what)));
}

// The answer to `head`, which has room for `spare` bytes after it.
template <typename Head>
Result<std::string> answer_to(const Head& head, std::size_t spare, const UniqueFd& socket,
                              const std::string& netdev, const char* what) {
  std::string memory(sizeof head + spare, '\0');
  std::memcpy(memory.data(), &head, sizeof head);
  if (auto asked = ask_driver(socket, netdev, memory.data(), what); !asked)
    return fail(std::move(asked).error());
  return memory;
}

template <typename Head>
Head head_of(const std::string& memory) {
  Head head{};
  std::memcpy(&head, memory.data(), sizeof head);
  return head;
}

Result<std::size_t> count_counters(const UniqueFd& socket, const std::string& netdev) {
  ethtool_sset_info question{};
  question.cmd = ETHTOOL_GSSET_INFO;
  question.sset_mask = 1ULL << ETH_SS_STATS;
  const auto answer = answer_to(question, sizeof(std::uint32_t), socket, netdev, "counters");
  if (!answer) return fail(answer.error());
  // What is not there is taken out of the mask.
  if (head_of<ethtool_sset_info>(*answer).sset_mask == 0)
    return fail(ErrorCode::not_supported, "the driver does not tell counters");
  std::uint32_t count = 0;
  std::memcpy(&count, answer->data() + sizeof question, sizeof count);
  if (count > most_counters)
    return fail(ErrorCode::corrupt, fmt::format("the driver says that it has {} counters", count));
  return count;
}

}  // namespace

NamedCounters named_counters(std::string_view names, std::span<const std::uint64_t> values,
                             const WantedName& wanted) {
  NamedCounters out;
  for (const std::uint64_t value : values) {
    if (names.size() < ETH_GSTRING_LEN) break;
    const auto field = names.substr(0, ETH_GSTRING_LEN);
    const auto name = field.substr(0, field.find('\0'));
    names.remove_prefix(ETH_GSTRING_LEN);
    if (!name.empty() && wanted(name)) out.emplace(name, value);
  }
  return out;
}

Result<NamedCounters> read_ethtool_counters(const std::string& netdev, const WantedName& wanted) {
  const auto socket = ethtool_socket(netdev);
  if (!socket) return fail(socket.error());
  const auto count = count_counters(*socket, netdev);
  if (!count) return fail(count.error());
  if (*count == 0) return NamedCounters();
  const std::size_t room = 2 * *count + spare_counters;
  ethtool_gstrings names{};
  names.cmd = ETHTOOL_GSTRINGS;
  names.string_set = ETH_SS_STATS;
  names.len = static_cast<std::uint32_t>(*count);
  const auto named = answer_to(names, room * ETH_GSTRING_LEN, *socket, netdev, "counters' names");
  if (!named) return fail(named.error());
  ethtool_stats stats{};
  stats.cmd = ETHTOOL_GSTATS;
  stats.n_stats = static_cast<std::uint32_t>(*count);
  const auto told = answer_to(stats, room * sizeof(std::uint64_t), *socket, netdev, "counters");
  if (!told) return fail(told.error());
  if (head_of<ethtool_gstrings>(*named).len != *count ||
      head_of<ethtool_stats>(*told).n_stats != *count) {
    return fail(ErrorCode::unavailable, "the driver's counters changed while they were read");
  }
  std::vector<std::uint64_t> values(*count);
  std::memcpy(values.data(), told->data() + sizeof stats, *count * sizeof(std::uint64_t));
  return named_counters(std::string_view(*named).substr(sizeof names, *count * ETH_GSTRING_LEN),
                        values, wanted);
}

Result<PauseSettings> read_pause(const std::string& netdev) {
  const auto socket = ethtool_socket(netdev);
  if (!socket) return fail(socket.error());
  ethtool_pauseparam question{};
  question.cmd = ETHTOOL_GPAUSEPARAM;
  const auto answer = answer_to(question, 0, *socket, netdev, "pause");
  if (!answer) return fail(answer.error());
  const auto pause = head_of<ethtool_pauseparam>(*answer);
  return PauseSettings{.receives = pause.rx_pause != 0, .sends = pause.tx_pause != 0};
}

}  // namespace stoker::os
