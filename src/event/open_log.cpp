#include "event/open_log.h"

#include <fmt/format.h>

#include <utility>

#include "event/syslog.h"
#include "os/journal.h"

namespace stoker::event {

Result<OpenLog> open_kernel_log(const os::Env& env, const std::string& boot, os::KmsgStart start,
                                std::string_view path) {
  auto own = os::follow_kmsg(env, start, path);
  if (own) return OpenLog{std::string(path), std::move(*own)};
  Error problem = own.error();
  const auto failed = [&](std::string_view name, const Error& why) {
    problem = Error(problem.code(),
                    fmt::format("{}; nor {}: {}", problem.describe(), name, why.describe()));
  };
  for (const auto folder : os::journal_folders) {
    auto journal = os::follow_journal(env, folder, boot);
    if (journal) return OpenLog{std::string(folder), std::move(*journal)};
    failed(folder, journal.error());
  }
  for (const auto file : syslog_files) {
    auto syslog = follow_syslog(env, file);
    if (syslog) return OpenLog{std::string(file), std::move(*syslog)};
    failed(file, syslog.error());
  }
  return fail(std::move(problem));
}

}  // namespace stoker::event
