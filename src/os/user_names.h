// Machine stage: names of users.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/clock.h"
#include "os/env.h"

namespace stoker::os {

// Where the Env's root is "/", names come from wherever this machine's accounts are (getpwuid_r(3));
// else from the root's /etc/passwd alone, since this process's own accounts may be a container's. One
// thread only.
class UserNames {
 public:
  explicit UserNames(const Env& env);

  // Empty: it has no name here, or none may be told because this process sees other mounts than the
  // machine's first process does and so, maybe, the accounts of a container.
  std::string name_of(std::uint32_t uid);

 private:
  struct Known {
    std::string name;
    MonotonicTime at;
  };
  [[nodiscard]] std::string look_up(std::uint32_t uid) const;

  // Constant after construction.
  const Env& env_;
  const bool own_accounts_;  // this process's are the host's
  const bool in_container_;

  std::map<std::uint32_t, Known> known_;
};

}  // namespace stoker::os
