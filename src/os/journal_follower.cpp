#include <poll.h>

#include <array>
#include <utility>

#include "os/journal.h"
#include "os/journal_handle.h"

namespace stoker::os {
namespace {

class JournalFollower final : public KmsgFollower {
 public:
  // `at_record`: the journal stands on a record that is to be told first.
  JournalFollower(Journal journal, int growth_fd, bool at_record)
      : journal_(std::move(journal)), growth_fd_(growth_fd), at_record_(at_record) {}

  Result<std::size_t> read(std::vector<KmsgRecord>& out, std::size_t max) override {
    // Files that were begun since (journald turns to a new one) are known after this.
    if (auto done = journal_.process(); !done) return fail(done.error());
    std::size_t added = 0;
    while (added < max) {
      if (!std::exchange(at_record_, false)) {
        const auto found = journal_.next();
        if (!found) return fail(found.error());
        if (!*found) break;
      }
      auto record = journal_.kernel_record();
      out.push_back({.facility = record.by_program ? 1U : 0U,
                     .sequence = record.sequence,
                     .microseconds = record.microseconds,
                     .text = std::move(record.text)});
      ++added;
    }
    return added;
  }

  bool wait(Milliseconds timeout, const Waker& waker) override {
    std::array<pollfd, 2> watched{{{growth_fd_, POLLIN, 0}, {waker.fd(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), static_cast<int>(timeout.count()));
    return watched[0].revents != 0;
  }

  // What journald did not read in time it says itself, in a record of its own; it counts nothing.
  [[nodiscard]] std::uint64_t overwritten() const override { return 0; }
  [[nodiscard]] std::uint64_t malformed() const override { return 0; }

 private:
  Journal journal_;
  const int growth_fd_;  // the journal's own
  bool at_record_;
};

}  // namespace

Result<std::unique_ptr<KmsgFollower>> follow_journal(const Env& env, std::string_view folder,
                                                     const std::string& boot) {
  auto journal = Journal::open(env, folder);
  if (!journal) return fail(journal.error());
  if (auto done = journal->match({"_BOOT_ID=" + boot_without_dashes(boot), "_TRANSPORT=kernel"});
      !done) {
    return fail(done.error());
  }
  // Before the first record is looked for: what comes in between is then seen.
  const auto growth = journal->growth_fd();
  if (!growth) return fail(growth.error());
  if (auto done = journal->seek_begin(); !done) return fail(done.error());
  const auto found = journal->next();
  if (!found) return fail(found.error());
  if (!*found) {
    return fail(ErrorCode::not_found,
                env.real_path(folder) + " has nothing that the kernel said in this boot");
  }
  return std::make_unique<JournalFollower>(std::move(*journal), *growth, true);
}

}  // namespace stoker::os
