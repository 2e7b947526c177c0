// How a boot ended, from what systemd wrote.
#include "event/boot_end.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker::event {
namespace {

os::JournalMessage message(std::string_view id, const std::string& unit = "") {
  return {.id = std::string(id), .unit = unit, .time = {}};
}
const auto journal_started = message(message_journal_start);
const auto journal_stopped = message(message_journal_stop);
const auto shutdown_asked = message(message_shutdown);
const auto ssh_started = message(message_unit_started, "ssh.service");

// Newest first.
BootEnd end_of(const std::vector<os::JournalMessage>& messages) { return ending_of(messages).end; }

TEST(BootEnding, IsCleanWhereTheJournalWasStoppedOrSystemdCameToItsLastTargets) {
  EXPECT_EQ(end_of({journal_stopped, ssh_started, journal_started}), BootEnd::clean);
  EXPECT_EQ(end_of({message(message_unit_started, "reboot.target"), shutdown_asked, ssh_started,
                    journal_started}),
            BootEnd::clean);
  EXPECT_EQ(
      end_of({ssh_started, message(message_unit_started, "shutdown.target"), journal_started}),
      BootEnd::clean);
}

TEST(BootEnding, IsUncleanWhereSystemdRanAndDidNotShutDown) {
  EXPECT_EQ(end_of({ssh_started, journal_started}), BootEnd::unclean);
  EXPECT_EQ(end_of({message(message_unit_started, "multi-user.target"), journal_started}),
            BootEnd::unclean);
}

TEST(BootEnding, IsNotToldByAJournalThatWasStoppedAndStartedAgain) {
  EXPECT_EQ(end_of({ssh_started, journal_started, journal_stopped, ssh_started, journal_started}),
            BootEnd::unclean);
}

TEST(BootEnding, CanNotBeToldOfAShutdownThatMayHaveHungOrWithoutSystemd) {
  EXPECT_EQ(end_of({shutdown_asked, ssh_started, journal_started}), BootEnd::unknown);
  EXPECT_EQ(end_of({}), BootEnd::unknown);
}

}  // namespace
}  // namespace stoker::event
