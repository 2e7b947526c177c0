// Composition: the file in the data folder that keeps a planned maintenance through restarts and boots. Not thread-safe.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/finding.h"
#include "model/maintenance.h"

namespace stoker::app {

class MaintenanceFile {
 public:
  // `path` empty: nothing is kept (a replay).
  explicit MaintenanceFile(std::string path) : path_(std::move(path)) {}

  // What is kept. One that can't be read counts as none, and problem() says so: a fault is rather told than hidden.
  std::optional<Maintenance> load();
  // Written, or gone, when it returns without an error; does nothing where that is kept already.
  Result<void> keep(const std::optional<Maintenance>& mark);
  [[nodiscard]] const std::optional<Finding>& problem() const { return problem_; }

 private:
  const std::string path_;
  std::optional<Maintenance> kept_;
  std::optional<Finding> problem_;
};

}  // namespace stoker::app
