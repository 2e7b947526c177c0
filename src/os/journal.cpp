#include "os/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "os/journal_handle.h"

namespace stoker::os {
namespace {

// The boot, other than `boot`, that has the newest record, and when that was.
Result<std::optional<std::pair<std::string, WallTime>>> last_other_boot(Journal& journal,
                                                                        const std::string& boot) {
  const auto ids = journal.boots();
  if (!ids) return fail(ids.error());
  std::optional<std::pair<std::string, WallTime>> last;
  for (const auto& id : *ids) {
    if (id == boot) continue;
    if (auto done = journal.match({"_BOOT_ID=" + id}); !done) return fail(done.error());
    if (auto done = journal.seek_end(); !done) return fail(done.error());
    const auto found = journal.previous();
    if (!found) return fail(found.error());
    if (*found && (!last || last->second < journal.time())) last = {id, journal.time()};
  }
  return last;
}

Result<void> read_kernel(Journal& journal, const std::string& id, const JournalLimits& limits,
                         JournalTail& out) {
  if (auto done = journal.match({"_BOOT_ID=" + id, "_TRANSPORT=kernel"}); !done) return done;
  if (auto done = journal.seek_end(); !done) return done;
  while (true) {
    const auto found = journal.previous();
    if (!found) return fail(found.error());
    if (!*found || out.ended.since_epoch - journal.time().since_epoch > limits.before_end) break;
    out.cut = out.kernel.size() >= limits.records;
    if (out.cut) break;
    out.kernel.push_back(journal.kernel_record());
  }
  std::ranges::reverse(out.kernel);
  return {};
}

Result<void> read_messages(Journal& journal, const std::string& id,
                           std::span<const std::string_view> message_ids,
                           const JournalLimits& limits, JournalTail& out) {
  if (auto done = journal.match({"_BOOT_ID=" + id}); !done) return done;
  for (const auto one : message_ids) {
    if (auto done = journal.also_match(fmt::format("MESSAGE_ID={}", one)); !done) return done;
  }
  if (auto done = journal.seek_end(); !done) return done;
  while (out.messages.size() < limits.messages) {
    const auto found = journal.previous();
    if (!found) return fail(found.error());
    if (!*found) break;
    out.messages.push_back({journal.field("MESSAGE_ID"), journal.field("UNIT"), journal.time()});
  }
  return {};
}

}  // namespace

Result<std::optional<JournalTail>> read_boot_before(const Env& env, std::string_view folder,
                                                    const std::string& boot,
                                                    std::span<const std::string_view> message_ids,
                                                    const JournalLimits& limits) {
  auto journal = Journal::open(env, folder);
  if (!journal) return fail(journal.error());
  const auto last = last_other_boot(*journal, boot_without_dashes(boot));
  if (!last) return fail(last.error());
  if (!*last) return std::nullopt;
  const auto& [id, ended] = **last;
  JournalTail tail{.boot = boot_with_dashes(id), .ended = ended, .kernel = {}, .messages = {}};
  if (auto done = read_kernel(*journal, id, limits, tail); !done) return fail(done.error());
  if (auto done = read_messages(*journal, id, message_ids, limits, tail); !done) {
    return fail(done.error());
  }
  return tail;
}

}  // namespace stoker::os
