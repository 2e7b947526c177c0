#include "os/user_names.h"

#include <pwd.h>

#include <array>
#include <vector>

#include "base/text.h"

namespace stoker::os {
namespace {

constexpr std::size_t most_known = 256;
constexpr Nanoseconds known_for = Seconds(600);  // accounts change by hand
constexpr std::size_t passwd_limit = 4 << 20;

// name:password:UID:... (passwd(5))
std::string name_in(std::string_view passwd, std::uint32_t uid) {
  while (!passwd.empty()) {
    const std::string_view line = passwd.substr(0, passwd.find('\n'));
    passwd.remove_prefix(std::min(line.size() + 1, passwd.size()));
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view number =
        line.substr(second + 1, line.find(':', second + 1) - second - 1);
    if (whole_number<std::uint32_t>(number) == uid) return std::string(line.substr(0, first));
  }
  return {};
}

bool sees_other_mounts(const Env& env) {
  const auto own = env.read_link("/proc/self/ns/mnt");
  const auto first = env.read_link("/proc/1/ns/mnt");
  return own && first && *own != *first;
}

}  // namespace

UserNames::UserNames(const Env& env)
    : env_(env),
      own_accounts_(env.real_path("/etc/passwd") == "/etc/passwd"),
      in_container_(own_accounts_ && sees_other_mounts(env)) {}

std::string UserNames::name_of(std::uint32_t uid) {
  const MonotonicTime now = env_.clock().monotonic();
  const auto at = known_.find(uid);
  if (at != known_.end() && now - at->second.at < known_for) return at->second.name;
  if (known_.size() >= most_known) known_.clear();
  return (known_[uid] = {look_up(uid), now}).name;
}

std::string UserNames::look_up(std::uint32_t uid) const {
  if (in_container_) return {};
  if (!own_accounts_) {
    const auto passwd = env_.read_file("/etc/passwd", passwd_limit);
    return passwd ? name_in(*passwd, uid) : std::string();
  }
  std::vector<char> room(16384);  // sysconf(_SC_GETPW_R_SIZE_MAX) is 1024 on Linux
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) != 0 || found == nullptr) {
    return {};
  }
  return found->pw_name;
}

}  // namespace stoker::os
