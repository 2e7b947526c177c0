#include "device/sim/state_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "device/sim/state_test_support.h"

namespace stoker::sim {
namespace {

TEST(StateFile, ReadsBackWhatAnotherMappingWrote) {
  TestState test(1);
  auto reader = StateFile::open(test.path(), StateFile::Access::read);
  ASSERT_TRUE(reader) << reader.error().describe();
  const auto before = reader->generation();
  test.change([](State& state) { state.gpus[0].pci.replays = 7; });
  EXPECT_EQ(reader->read([](const State& state) { return state.gpus[0].pci.replays; }), 7U);
  EXPECT_EQ(reader->generation(), before + 2);
}

TEST(StateFile, SaysWhatIsWrongWithAFileThatIsNoState) {
  TestState test;
  const std::string other = test.folder() + "/other";
  std::ofstream(other) << std::string(1000, 'x');
  const auto opened = StateFile::open(other, StateFile::Access::read);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::corrupt);
  EXPECT_NE(opened.error().message().find(other), std::string::npos);
  const auto missing = StateFile::open(test.folder() + "/none", StateFile::Access::read);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::not_found);
}

TEST(StateFile, RefusesAStateOfAnotherLayout) {
  TestState test;
  test.change([](State& state) { state.header.layout = state_layout + 1; });
  const auto opened = StateFile::open(test.path(), StateFile::Access::read);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::not_supported);
  EXPECT_NE(opened.error().message().find("another version"), std::string::npos);
}

TEST(StateFile, RefusesAFileThatWasCutShort) {
  TestState test;
  const std::string copy = test.folder() + "/copy";
  std::filesystem::copy_file(test.path(), copy);
  std::filesystem::resize_file(copy, sizeof(State) - 1);
  EXPECT_FALSE(StateFile::open(copy, StateFile::Access::read));
}

TEST(StateFile, IsNotWrittenByOneWhoOpenedItForReading) {
  TestState test;
  auto reader = StateFile::open(test.path(), StateFile::Access::read);
  ASSERT_TRUE(reader);
  const auto written = reader->write([](State& state) { state.last_event = 1; });
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::no_permission);
}

TEST(StateFile, MadeAgainInPlaceIsSeenByThoseWhoHaveItMapped) {
  TestState test(2);
  auto reader = StateFile::open(test.path(), StateFile::Access::read);
  ASSERT_TRUE(reader);
  ASSERT_TRUE(StateFile::create(test.path()));
  EXPECT_EQ(reader->read([](const State& state) { return state.gpus[0].presence; }),
            Presence::absent);
}

TEST(StateFile, NeverShowsHalfAChange) {
  TestState test(1);
  auto reader = StateFile::open(test.path(), StateFile::Access::read);
  ASSERT_TRUE(reader);
  std::atomic<bool> done{false};
  std::jthread writer([&] {
    for (std::uint64_t i = 1; i <= 2000; ++i) {
      test.change([&](State& state) { state.gpus[0].load.seed = state.gpus[0].load.start_ns = i; });
    }
    done = true;
  });
  int torn = 0;
  while (!done) {
    torn += reader->read([](const State& state) {
      return state.gpus[0].load.seed != state.gpus[0].load.start_ns &&
             state.gpus[0].load.start_ns != test_now_ns;
    });
  }
  EXPECT_EQ(torn, 0);
}

TEST(StateFile, IsReadOnAfterAWriterDiedInside) {
  TestState test(1);
  const pid_t child = ::fork();
  if (child == 0) {
    static_cast<void>(test.file().write([](State&) { ::_exit(0); }));
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  auto reader = StateFile::open(test.path(), StateFile::Access::read);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->read([](const State& state) { return state.driver.loaded; }), 1U);
  test.change([](State& state) { state.driver.loaded = 0; });
  EXPECT_EQ(reader->generation() % 2, 0U);
}

TEST(StateFile, WakesAWaiterWithTheNextChange) {
  TestState test(1);
  auto reader = StateFile::open(test.path(), StateFile::Access::read);
  ASSERT_TRUE(reader);
  const std::uint64_t seen = reader->generation();
  std::jthread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    test.change([](State& state) { state.last_event = 1; });
  });
  constexpr std::uint64_t hour_ns = 3'600'000'000'000;  // whoever is not woken never ends
  while (reader->generation() == seen) reader->wait_for_change(seen, hour_ns);
  EXPECT_EQ(reader->read([](const State& state) { return state.last_event; }), 1U);
}

}  // namespace
}  // namespace stoker::sim
