#include "maintenance_file.h"

#include <utility>

#include "api/maintenance_document.h"
#include "base/log.h"
#include "base/replace_file.h"
#include "base/write_all.h"
#include "not_kept.h"
#include "os/system_env.h"

namespace stoker::app {
std::optional<Maintenance> MaintenanceFile::load() {
  if (path_.empty()) return std::nullopt;
  const auto text = os::make_system_env("/", "/")->read_file(path_);
  if (!text && text.error().code() == ErrorCode::not_found) return std::nullopt;
  auto mark =
      text ? api::parse_maintenance_file(*text) : Result<Maintenance>(tl::unexpect, text.error());
  if (mark) return kept_ = *std::move(mark);
  log::warning("maintenance_not_read", {{"reason", mark.error().describe()}});
  problem_ = not_kept(path_, "maintenance-not-kept",
                      "Whether a maintenance was planned can't be read; nothing is held back",
                      mark.error());
  return std::nullopt;
}

Result<void> MaintenanceFile::keep(const std::optional<Maintenance>& mark) {
  if (path_.empty() || mark == kept_) return {};
  const auto write = [&](int fd, const std::string& name) {
    return write_all(fd, api::maintenance_file(*mark), name);
  };
  auto done = mark ? replace_file(path_, write) : remove_file(path_);
  if (done) {
    kept_ = mark;
    problem_.reset();
    return done;
  }
  if (!problem_) log::warning("maintenance_not_kept", {{"reason", done.error().describe()}});
  problem_ = not_kept(path_, "maintenance-not-kept",
                      "The planned maintenance is not kept on disk; a restart does not know of it",
                      done.error());
  return done;
}

}  // namespace stoker::app
