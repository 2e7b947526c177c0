// Composition: the folder in which an agent keeps what has to last, held by one agent at a time.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stoker::app {

// The name of the Unix socket in it, through which incidents are changed and maintenances planned.
inline constexpr const char* control_socket = "stoker.sock";

class DataFolder {
 public:
  // Makes `path` (and what is missing above it) and takes its lock. unavailable with the pid of the
  // agent that holds it; no_permission or io with what to do.
  static Result<DataFolder> take(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  // unavailable where the lock's file is not the one in the folder any more: the folder was removed under
  // us, and perhaps made anew by another agent.
  [[nodiscard]] Result<void> still_ours() const;

 private:
  DataFolder(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;  // absolute
  UniqueFd lock_;     // the lock ends with this descriptor, however the process ends
};

}  // namespace stoker::app
