#include "os/journal_handle.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/text.h"

namespace stoker::os {
namespace {

// More would be a journal of years.
constexpr std::size_t most_boots = 1024;
constexpr std::size_t id_digits = 32;

Nanoseconds from_microseconds(std::uint64_t number) {
  return std::chrono::microseconds(static_cast<std::int64_t>(number));
}

// "NAME=value" -> "value".
std::string_view value_of(const void* data, std::size_t size) {
  std::string_view text(static_cast<const char*>(data), size);
  text.remove_prefix(std::min(text.find('=') + 1, text.size()));
  return text;
}

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

}  // namespace

std::string boot_with_dashes(std::string_view id) {
  if (id.size() != id_digits) return std::string(id);
  return fmt::format("{}-{}-{}-{}-{}", id.substr(0, 8), id.substr(8, 4), id.substr(12, 4),
                     id.substr(16, 4), id.substr(20));
}

std::string boot_without_dashes(std::string id) {
  std::erase(id, '-');
  return id;
}

Journal::Journal(const JournalLibrary& library, std::string name, UniqueFd folder)
    : library_(&library),
      name_(std::move(name)),
      folder_(std::move(folder)),
      journal_(nullptr, library.close) {}

Result<Journal> Journal::open(const Env& env, std::string_view folder) {
  if (auto there = has_readable_files(env, folder); !there) return fail(there.error());
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

Error Journal::error(int code) const {
  return Error::from_errno(-code, fmt::format("read the journal in {}", name_));
}

Result<void> Journal::done(int code) const {
  if (code < 0) return fail(error(code));
  return {};
}

Result<bool> Journal::moved(int code) const {
  if (code < 0) return fail(error(code));
  return code > 0;
}

Result<void> Journal::match(std::initializer_list<std::string> fields) {
  library_->flush_matches(journal_.get());
  for (const auto& field : fields) {
    if (auto matched = also_match(field); !matched) return matched;
  }
  return {};
}

Result<void> Journal::also_match(const std::string& field) {
  return done(library_->add_match(journal_.get(), field.data(), field.size()));
}

Result<void> Journal::seek_end() { return done(library_->seek_tail(journal_.get())); }
Result<void> Journal::seek_begin() { return done(library_->seek_head(journal_.get())); }
Result<bool> Journal::previous() { return moved(library_->previous(journal_.get())); }
Result<bool> Journal::next() { return moved(library_->next(journal_.get())); }

Result<int> Journal::growth_fd() const {
  const int fd = library_->get_fd(journal_.get());
  if (fd < 0) return fail(error(fd));
  return fd;
}

Result<void> Journal::process() { return done(library_->process(journal_.get())); }

std::string Journal::field(const char* name) {
  const void* data = nullptr;
  std::size_t size = 0;
  if (library_->get_data(journal_.get(), name, &data, &size) < 0) return {};
  return std::string(value_of(data, size));
}

WallTime Journal::time() {
  std::uint64_t microseconds = 0;
  if (library_->get_realtime_usec(journal_.get(), &microseconds) < 0) return {};
  return {from_microseconds(microseconds)};
}

std::uint64_t Journal::monotonic() {
  std::uint64_t microseconds = 0;
  sd_id128_t boot{};
  return library_->get_monotonic_usec(journal_.get(), &microseconds, &boot) < 0 ? 0 : microseconds;
}

// "s=…;i=4f;b=…": the record's number, which has no call of its own before version 254.
std::uint64_t Journal::sequence() {
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

JournalRecord Journal::kernel_record() {
  JournalRecord record{.text = field("MESSAGE"),
                       .time = time(),
                       .microseconds = monotonic(),
                       .sequence = sequence()};
  // As in /dev/kmsg: 0 is the kernel itself. journald has both under one transport.
  const auto facility = field("SYSLOG_FACILITY");
  record.by_program = !facility.empty() && facility != "0";
  // journald reads what the kernel said some time later.
  const auto said = whole_number<std::uint64_t>(field("_SOURCE_MONOTONIC_TIMESTAMP"));
  if (said && *said <= record.microseconds) {
    record.time.since_epoch -= from_microseconds(record.microseconds - *said);
    record.microseconds = *said;
  }
  return record;
}

Result<std::vector<std::string>> Journal::boots() {
  const int code = library_->query_unique(journal_.get(), "_BOOT_ID");
  if (code < 0) return fail(error(code));
  std::vector<std::string> ids;
  const void* data = nullptr;
  std::size_t size = 0;
  while (ids.size() < most_boots &&
         library_->enumerate_available_unique(journal_.get(), &data, &size) > 0) {
    const auto id = value_of(data, size);
    if (id.size() == id_digits) ids.emplace_back(id);
  }
  return ids;
}

}  // namespace stoker::os
