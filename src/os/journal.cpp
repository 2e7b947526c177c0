#include "os/journal.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/text.h"
#include "os/journal_library.h"

namespace stoker::os {
namespace {

// More would be a journal of years.
constexpr std::size_t most_boots = 1024;
constexpr std::size_t id_digits = 32;

Nanoseconds from_microseconds(std::uint64_t number) {
  return std::chrono::microseconds(static_cast<std::int64_t>(number));
}

// "3f2a…" of 32 digits -> as /proc/sys/kernel/random/boot_id has it.
std::string with_dashes(std::string id) {
  for (const std::size_t place : {20U, 16U, 12U, 8U}) id.insert(place, "-");
  return id;
}

std::string without_dashes(std::string id) {
  std::erase(id, '-');
  return id;
}

class Journal {
 public:
  static Result<Journal> open(const Env& env, std::string_view folder) {
    auto fd = env.open(folder, O_DIRECTORY);
    if (!fd) return fail(fd.error());
    const auto library = journal_library();
    if (!library) return fail(library.error());
    Journal journal(**library, env.real_path(folder), std::move(*fd));
    sd_journal* opened = nullptr;
    const int code = (*library)->open_directory_fd(&opened, journal.folder_.get(), 0);
    if (code < 0) return fail(journal.error(code));
    journal.journal_.reset(opened);
    return journal;
  }

  // From now on only records that have all of these, of one field any of its values.
  Result<void> match(std::initializer_list<std::string> fields) {
    library_->flush_matches(journal_.get());
    for (const auto& field : fields) {
      if (auto done = also_match(field); !done) return done;
    }
    return {};
  }
  Result<void> also_match(const std::string& field) {
    const int code = library_->add_match(journal_.get(), field.data(), field.size());
    if (code < 0) return fail(error(code));
    return {};
  }
  Result<void> seek_end() {
    const int code = library_->seek_tail(journal_.get());
    if (code < 0) return fail(error(code));
    return {};
  }
  // false: there is none before.
  Result<bool> previous() {
    const int code = library_->previous(journal_.get());
    if (code < 0) return fail(error(code));
    return code > 0;
  }

  // Of the record that was gone to; empty: it has no such field.
  std::string field(const char* name) {
    const void* data = nullptr;
    std::size_t size = 0;
    if (library_->get_data(journal_.get(), name, &data, &size) < 0) return {};
    std::string_view text(static_cast<const char*>(data), size);
    text.remove_prefix(std::min(text.find('=') + 1, text.size()));
    return std::string(text);
  }
  WallTime time() {
    std::uint64_t microseconds = 0;
    if (library_->get_realtime_usec(journal_.get(), &microseconds) < 0) return {};
    return {from_microseconds(microseconds)};
  }
  std::uint64_t monotonic() {
    std::uint64_t microseconds = 0;
    sd_id128_t boot{};
    return library_->get_monotonic_usec(journal_.get(), &microseconds, &boot) < 0 ? 0
                                                                                  : microseconds;
  }
  // "s=…;i=4f;b=…": the record's number, which has no call of its own before version 254.
  std::uint64_t sequence() {
    char* told = nullptr;
    if (library_->get_cursor(journal_.get(), &told) < 0) return 0;
    const std::unique_ptr<char, decltype(&std::free)> cursor(told, &std::free);
    std::string_view text(cursor.get());
    const auto at = text.find(";i=");
    if (at == std::string_view::npos) return 0;
    text.remove_prefix(at + 3);
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number, 16);
    return number;
  }

  Result<std::vector<std::string>> boots() {
    const int code = library_->query_unique(journal_.get(), "_BOOT_ID");
    if (code < 0) return fail(error(code));
    std::vector<std::string> ids;
    const void* data = nullptr;
    std::size_t size = 0;
    while (ids.size() < most_boots &&
           library_->enumerate_available_unique(journal_.get(), &data, &size) > 0) {
      std::string_view text(static_cast<const char*>(data), size);
      text.remove_prefix(std::min(text.find('=') + 1, text.size()));
      if (text.size() == id_digits) ids.emplace_back(text);
    }
    return ids;
  }

 private:
  Journal(const JournalLibrary& library, std::string name, UniqueFd folder)
      : library_(&library),
        name_(std::move(name)),
        folder_(std::move(folder)),
        journal_(nullptr, library.close) {}

  [[nodiscard]] Error error(int code) const {
    return Error::from_errno(-code, "read the journal in " + name_);
  }

  const JournalLibrary* library_;
  std::string name_;
  UniqueFd folder_;  // outlives the journal
  std::unique_ptr<sd_journal, decltype(&::sd_journal_close)> journal_;
};

// sd-journal leaves out what it may not read: a journal without files would look like one without boots.
Result<void> has_readable_files(const Env& env, std::string_view folder) {
  std::vector<std::string> folders{std::string(folder)};
  const auto names = env.list_folder(folder);
  if (!names) return fail(names.error());
  for (const auto& name : *names) folders.push_back(fmt::format("{}/{}", folder, name));
  std::optional<Error> forbidden;
  for (const auto& one : folders) {
    for (const auto& name : env.list_folder(one).value_or(std::vector<std::string>())) {
      if (!name.ends_with(".journal") && !name.ends_with(".journal~")) continue;
      const auto file = env.open(fmt::format("{}/{}", one, name));
      if (file) return {};
      forbidden = file.error();
    }
  }
  if (forbidden) return fail(*forbidden);
  return fail(ErrorCode::not_found, env.real_path(folder) + " has no journal");
}

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

JournalRecord kernel_record(Journal& journal) {
  JournalRecord record{.text = journal.field("MESSAGE"),
                       .time = journal.time(),
                       .microseconds = journal.monotonic(),
                       .sequence = journal.sequence()};
  // As in /dev/kmsg: 0 is the kernel itself. journald has both under one transport.
  const auto facility = journal.field("SYSLOG_FACILITY");
  record.by_program = !facility.empty() && facility != "0";
  // journald reads what the kernel said some time later.
  const auto said = whole_number<std::uint64_t>(journal.field("_SOURCE_MONOTONIC_TIMESTAMP"));
  if (said && *said <= record.microseconds) {
    record.time.since_epoch -= from_microseconds(record.microseconds - *said);
    record.microseconds = *said;
  }
  return record;
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
    out.kernel.push_back(kernel_record(journal));
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
  if (auto there = has_readable_files(env, folder); !there) return fail(there.error());
  auto journal = Journal::open(env, folder);
  if (!journal) return fail(journal.error());
  const auto last = last_other_boot(*journal, without_dashes(boot));
  if (!last) return fail(last.error());
  if (!*last) return std::nullopt;
  const auto& [id, ended] = **last;
  JournalTail tail{.boot = with_dashes(id), .ended = ended, .kernel = {}, .messages = {}};
  if (auto done = read_kernel(*journal, id, limits, tail); !done) return fail(done.error());
  if (auto done = read_messages(*journal, id, message_ids, limits, tail); !done) {
    return fail(done.error());
  }
  return tail;
}

}  // namespace stoker::os
