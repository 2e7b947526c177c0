#include "os/rdma_ports.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "os/node_devices.h"
#include "os/sysfs_text.h"

namespace stoker::os {
namespace {

constexpr const char* rdma_class = "/sys/class/infiniband";
constexpr const char* usual_driver = "mlx5_core";
constexpr std::size_t most_gids = 256;  // of a port; mlx5 has that many
constexpr unsigned priorities = 8;
// Files that stay open: 64 ports with their counters, and no more than a part of what this process may have open (1024 under
// systemd and in a login shell), which sockets, children and the database need too: our choice.
constexpr std::size_t most_kept = 4096;
constexpr std::size_t kept_part = 4;

std::size_t most_kept_now() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return most_kept;
  return std::min<std::size_t>(most_kept, limit.rlim_cur / kept_part);
}

bool has_no_file_left() {
  const UniqueFd one(::open("/", O_PATH | O_CLOEXEC));
  return one.get() < 0 && (errno == EMFILE || errno == ENFILE);
}

// By these a driver or firmware refuses: mlx5 makes EINVAL and EIO of what its firmware does not do, and EAGAIN, EBUSY and ENOMEM
// of what it does not do now (drivers/net/ethernet/mellanox/mlx5/core/cmd.c, cmd_status_to_err). ENOTSUP is EOPNOTSUPP.
constexpr ErrorCode refusal = ErrorCode::not_supported;

bool is_refusal(int number) { return number == EINVAL || number == EOPNOTSUPP || number == EIO; }

// "0x1a" (lid_show)
std::optional<unsigned> hexadecimal(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  unsigned number = 0;
  const auto* const end = text.data() + text.size();
  const auto [read, code] = std::from_chars(text.data() + 2, end, number, 16);
  return code == std::errc{} && read == end ? std::optional(number) : std::nullopt;
}

Result<std::string> read_start(const UniqueFd& file, const std::string& path) {
  std::array<char, sysfs_page> text{};
  const auto size = ::pread(file.get(), text.data(), text.size(), 0);
  if (size < 0) {
    const int number = errno;
    const auto error = Error::from_errno(number, "read " + path);
    return fail(is_refusal(number) ? refusal : error.code(), error.message());
  }
  return std::string(text.data(), static_cast<std::size_t>(size));
}

// Empty: none.
std::string driver_of(const Env& env, const PciAddress& pci) {
  return sysfs_link(env, fmt::format("/sys/bus/pci/devices/{}/driver", pci.sysfs()));
}

// May a device be in one network namespace alone? Else each has all of them (drivers/infiniband/core/device.c: "Share device
// among net namespaces", Y by default).
bool is_exclusive(const Env& env) {
  return sysfs_line(env, "/sys/module/ib_core/parameters/netns_mode") == "N";
}

bool is_set(std::string_view gid) { return gid.find_first_not_of("0:") != std::string_view::npos; }

std::vector<RdmaGid> read_gids(const Env& env, const std::string& port) {
  std::vector<RdmaGid> gids;
  auto names = env.list_folder(port + "gids").value_or(std::vector<std::string>());
  std::ranges::sort(names, natural_less);
  for (const auto& name : names) {
    const auto index = whole_number<unsigned>(name);
    if (!index || gids.size() >= most_gids) continue;
    auto gid = sysfs_line(env, fmt::format("{}gids/{}", port, name));
    if (gid.empty() || !is_set(gid)) continue;
    gids.push_back({.index = *index,
                    .gid = std::move(gid),
                    .type = sysfs_line(env, fmt::format("{}gid_attrs/types/{}", port, name)),
                    .netdev = sysfs_line(env, fmt::format("{}gid_attrs/ndevs/{}", port, name))});
  }
  return gids;
}

std::map<unsigned, bool> read_ecn(const Env& env, const std::string& folder) {
  std::map<unsigned, bool> by_priority;
  for (unsigned priority = 0; priority < priorities; ++priority) {
    const auto text = sysfs_line(env, fmt::format("{}/enable/{}", folder, priority));
    if (!text.empty()) by_priority[priority] = text == "1";
  }
  return by_priority;
}

void read_netdev(const Env& env, RdmaPort& port) {
  const auto named =
      std::ranges::find_if(port.gids, [](const RdmaGid& gid) { return !gid.netdev.empty(); });
  if (named == port.gids.end()) return;
  port.netdev = named->netdev;
  const std::string folder = "/sys/class/net/" + port.netdev;
  port.mtu = whole_number<unsigned>(sysfs_line(env, folder + "/mtu"));
  port.ecn_notices = read_ecn(env, folder + "/ecn/roce_np");
  port.ecn_reacts = read_ecn(env, folder + "/ecn/roce_rp");
}

}  // namespace

// To look a path up costs far more than to read a file that is open. One that was replaced, or whose device went away and came
// back, is opened anew.
Result<std::string> RdmaPortReader::content(const std::string& path) {
  if (const auto known = opened_.find(path); known != opened_.end()) {
    struct stat status{};
    if (::fstat(known->second.get(), &status) == 0 && status.st_nlink > 0) {
      auto text = read_start(known->second, path);
      if (text || text.error().code() == refusal) return text;
    }
    opened_.erase(known);
  }
  auto opened = env_.open(path, O_NONBLOCK);
  if (!opened && give_files_back()) opened = env_.open(path, O_NONBLOCK);
  if (!opened) return fail(opened.error());
  auto text = read_start(*opened, path);
  const bool is_kept = pace_.settings > Nanoseconds{0} && opened_.size() < to_keep_;
  if (text && is_kept) opened_.emplace(path, std::move(*opened));
  return text;
}

// Where this process or this machine can open no more: what others do with theirs matters more.
bool RdmaPortReader::give_files_back() {
  if (opened_.empty() || !has_no_file_left()) return false;
  to_keep_ = opened_.size() / 2;
  opened_.clear();
  return true;
}

Result<std::vector<std::string>> RdmaPortReader::list(const std::string& folder) {
  auto names = env_.list_folder(folder);
  if (!names && give_files_back()) names = env_.list_folder(folder);
  return names;
}

// What counters a port has does not change while its driver is loaded.
Result<std::vector<std::string>> RdmaPortReader::counters_in(const std::string& folder) {
  const auto known = names_.find(folder);
  if (known != names_.end()) return known->second;
  auto names = list(folder);
  if (names && pace_.settings > Nanoseconds{0}) names_[folder] = *names;
  return names;
}

// What every port has, so that its absence is said.
std::string RdmaPortReader::needed(RdmaPort& port, const std::string& folder,
                                   const std::string& file) {
  const auto text = content(folder + file);
  if (text) return std::string(trimmed(text->substr(0, text->find('\n'))));
  port.unread.push_back(fmt::format("{}: {}", file, text.error().describe()));
  return {};
}

// Are the next ones to be asked for too? Not after one that was not told: each may take a minute.
bool RdmaPortReader::read_counters(RdmaPort& port, const std::string& folder,
                                   std::string_view group) {
  const auto names = counters_in(fmt::format("{}{}", folder, group));
  if (!names) {
    if (names.error().code() != ErrorCode::not_found)
      port.unread.push_back(fmt::format("{}: {}", group, names.error().describe()));
    return true;
  }
  for (const auto& name : *names) {
    if (name == "lifespan") continue;  // how long the driver keeps what it read: a setting
    const auto file = fmt::format("{}/{}", group, name);
    const auto text = content(folder + file);
    // Its port is being taken away.
    if (!text && text.error().code() == ErrorCode::not_found) continue;
    if (!text) {
      auto why = fmt::format("{}: {}", file, text.error().describe());
      if (text.error().code() == refusal)
        refused_[port.device] = {.at = env_.clock().monotonic(), .why = std::move(why)};
      else
        port.unread.push_back(std::move(why));
      return false;
    }
    const auto value = whole_number<std::uint64_t>(trimmed(*text, " \n"));
    // "N/A (no PMA)" of a card without (sysfs.c, show_pma_counter).
    if (value) port.counters[name] = *value;
  }
  return true;
}

RdmaPort RdmaPortReader::read_settings(const std::string& device, const std::string& folder,
                                       unsigned number) const {
  const auto of_device = fmt::format("{}/{}/", rdma_class, device);
  RdmaPort port{.device = device, .port = number};
  if (const auto pci = PciAddress::parse(sysfs_link(env_, of_device + "device"))) port.pci = *pci;
  port.model = sysfs_line(env_, of_device + "hca_type");
  port.board = sysfs_line(env_, of_device + "board_id");
  port.firmware = sysfs_line(env_, of_device + "fw_ver");
  port.link_layer = sysfs_line(env_, folder + "link_layer");
  port.lid = hexadecimal(sysfs_line(env_, folder + "lid"));
  port.sm_lid = hexadecimal(sysfs_line(env_, folder + "sm_lid"));
  port.gids = read_gids(env_, folder);
  read_netdev(env_, port);
  return port;
}

RdmaPort RdmaPortReader::settings_of(const std::string& device, const std::string& folder,
                                     unsigned number) {
  const auto now = env_.clock().monotonic();
  const auto known = settings_.find(folder);
  if (known != settings_.end() && now - known->second.at < pace_.settings)
    return known->second.port;
  auto port = read_settings(device, folder, number);
  std::erase_if(names_, [&](const auto& of_folder) { return of_folder.first.starts_with(folder); });
  if (pace_.settings > Nanoseconds{0}) settings_[folder] = {now, port};
  return port;
}

RdmaPort RdmaPortReader::read_port(const std::string& device, const std::string& folder,
                                   unsigned number) {
  RdmaPort port = settings_of(device, folder, number);
  port.state = word_after_number(needed(port, folder, "state"));
  port.physical = word_after_number(needed(port, folder, "phys_state"));
  const auto rate = content(folder + "rate");
  if (rate) port.rate = std::string(trimmed(rate->substr(0, rate->find('\n'))));
  if (!refused_.contains(device) && read_counters(port, folder, "counters"))
    read_counters(port, folder, "hw_counters");
  if (const auto refused = refused_.find(device); refused != refused_.end())
    port.unread.push_back(refused->second.why);
  return port;
}

void RdmaPortReader::meet(const std::string& device, const std::optional<PciAddress>& pci) {
  if (met_.contains(device) && met_[device].device.pci == pci) return;
  if (met_.size() >= most_rdma_ports) return;
  met_[device] = {.device = {.device = device, .pci = pci},
                  .driver = pci ? driver_of(env_, *pci) : std::string()};
}

// A firmware that was being reset refuses too.
void RdmaPortReader::forget_old_refusal(const std::string& device) {
  const auto refused = refused_.find(device);
  if (refused == refused_.end() || pace_.settings == Nanoseconds{0}) return;
  if (env_.clock().monotonic() - refused->second.at >= pace_.settings) refused_.erase(refused);
}

void RdmaPortReader::read_device(const std::string& device, RdmaPorts& out) {
  const auto ports = fmt::format("{}/{}/ports/", rdma_class, device);
  auto numbers = list(ports);
  forget_old_refusal(device);
  if (!numbers) {
    out.unread.push_back(fmt::format("{}: {}", device, numbers.error().describe()));
    return;
  }
  std::ranges::sort(*numbers, natural_less);
  for (const auto& number : *numbers) {
    const auto value = whole_number<unsigned>(number);
    if (!value) continue;
    if (out.ports.size() >= most_rdma_ports) {
      out.unread.push_back(fmt::format("{}: port {} is not looked at, for {} ports are the most",
                                       device, *value, most_rdma_ports));
      return;
    }
    out.ports.push_back(read_port(device, ports + number + "/", *value));
    meet(device, out.ports.back().pci);
  }
}

// A device that comes back is a new one: another driver, perhaps another card.
void RdmaPortReader::find_absent(const std::vector<std::string>& present, RdmaPorts& out) {
  for (auto& [name, known] : met_) {
    if (std::ranges::find(present, name) != present.end()) continue;
    refused_.erase(name);
    std::erase_if(settings_, [&](const auto& of) { return of.second.port.device == name; });
    const auto of_device = fmt::format("{}/{}/", rdma_class, name);
    std::erase_if(opened_, [&](const auto& of) { return of.first.starts_with(of_device); });
    std::erase_if(names_, [&](const auto& of) { return of.first.starts_with(of_device); });
    AbsentRdmaDevice& device = known.device;
    if (device.pci) {
      device.on_bus = env_.exists("/sys/bus/pci/devices/" + device.pci->sysfs());
      device.driver = driver_of(env_, *device.pci);
      // Its own driver keeps a card that does not recover, or whose mlx5_ib was unloaded.
      const bool is_own = device.driver == known.driver || device.driver == usual_driver;
      if (is_own && !is_exclusive(env_)) device.driver.clear();
    }
    out.absent.push_back(device);
  }
}

Result<std::vector<std::string>> list_rdma_devices(const Env& env) {
  auto names = env.list_folder(rdma_class);
  // Without the last of them the folder stays, but not without the module (ib_core).
  if (!names && names.error().code() == ErrorCode::not_found) return std::vector<std::string>();
  if (names) std::ranges::sort(*names, natural_less);
  return names;
}

RdmaPorts RdmaPortReader::begin(std::size_t readers) {
  to_keep_ = std::min(to_keep_, most_kept_now() / std::max<std::size_t>(readers, 1));
  if (opened_.size() > to_keep_) opened_.clear();
  return {.at = env_.clock().monotonic()};
}

RdmaPorts RdmaPortReader::read(const std::string& device, std::size_t readers) {
  RdmaPorts out = begin(readers);
  const bool present = env_.exists(fmt::format("{}/{}", rdma_class, device));
  if (present) read_device(device, out);
  find_absent(present ? std::vector{device} : std::vector<std::string>(), out);
  return out;
}

RdmaPorts RdmaPortReader::read() {
  RdmaPorts out = begin(1);
  auto names = list_rdma_devices(env_);
  if (!names && give_files_back()) names = list_rdma_devices(env_);
  if (!names) {
    out.problem = names.error().describe();
    return out;
  }
  for (const auto& device : *names) {
    if (!left_out_.contains(device)) read_device(device, out);
  }
  find_absent(*names, out);
  return out;
}

}  // namespace stoker::os
