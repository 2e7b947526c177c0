#include "port_owner.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "os/proc_stat.h"

namespace stoker::app {
namespace {

struct Listener {
  std::uint32_t uid = 0;
  std::string inode;
};

// As the kernel prints an address: each four bytes as one number of this machine.
std::string as_kernel_prints(std::span<const unsigned char> address) {
  std::string text;
  for (std::size_t at = 0; at + 4 <= address.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, &address[at], sizeof word);
    fmt::format_to(std::back_inserter(text), "{:08X}", word);
  }
  return text;
}

// The local addresses that answer to who connects to `address`: itself, any, and IPv4 within IPv6.
std::set<std::string> local_names(const HostPort& address) {
  std::array<unsigned char, 16> six{};
  std::array<unsigned char, 4> four{};
  const std::string port = fmt::format(":{:04X}", address.port);
  const auto any_six = as_kernel_prints(six) + port;
  if (::inet_pton(AF_INET6, address.host.c_str(), six.data()) == 1)
    return {as_kernel_prints(six) + port, any_six};
  if (::inet_pton(AF_INET, address.host.c_str(), four.data()) != 1) return {};
  const auto any_four = as_kernel_prints(std::array<unsigned char, 4>{}) + port;
  six[10] = six[11] = 0xFF;
  std::ranges::copy(four, six.begin() + 12);
  return {as_kernel_prints(four) + port, any_four, as_kernel_prints(six) + port, any_six};
}

Result<std::vector<Listener>> listeners_at(const HostPort& address) {
  const auto names = local_names(address);
  std::vector<Listener> found;
  bool read = false;
  for (const char* table : {"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);  // what the columns are
    read = read || !line.empty();
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, queues, timer, again, timeout;
      Listener one;
      words >> number >> local >> remote >> state >> queues >> timer >> again >> one.uid >>
          timeout >> one.inode;
      if (words && state == "0A" && names.contains(local)) found.push_back(std::move(one));
    }
  }
  if (!read) return fail(ErrorCode::io, "/proc/net/tcp can't be read");
  return found;
}

// False: not all that it has open may be seen.
bool add_sockets(const os::Env& env, std::uint32_t pid, std::set<std::string>& inodes) {
  constexpr std::string_view head = "socket:[";
  std::error_code problem;
  const std::filesystem::path folder = env.real_path(os::proc_file(pid, "fd"));
  for (std::filesystem::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    std::error_code gone;  // closed meanwhile
    const auto link = std::filesystem::read_symlink(at->path(), gone).string();
    if (gone == std::errc::permission_denied) return false;
    if (link.starts_with(head))
      inodes.insert(link.substr(head.size(), link.size() - head.size() - 1));
  }
  return !problem;
}

}  // namespace

JobSockets sockets_of(const os::Env& env, const std::vector<JobProcess>& job) {
  JobSockets sockets;
  for (const auto& process : job) {
    if (process.is_simulated()) sockets.users.insert(::geteuid());  // who plays its part
    if (process.is_simulated() || !add_sockets(env, process.pid, sockets.inodes))
      sockets.users.insert(process.rights.uid);
  }
  return sockets;
}

Result<void> listens_for(const JobSockets& sockets, const HostPort& address) {
  const auto listeners = listeners_at(address);
  if (!listeners) return fail(listeners.error());
  if (listeners->empty()) return fail(ErrorCode::not_found, "nobody listens there");
  for (const auto& each : *listeners) {
    if (sockets.inodes.contains(each.inode) || sockets.users.contains(each.uid)) continue;
    return fail(ErrorCode::no_permission,
                fmt::format("who listens on {} is of uid {} and none of the job's processes",
                            format_host_port(address), each.uid));
  }
  return {};
}

}  // namespace stoker::app
