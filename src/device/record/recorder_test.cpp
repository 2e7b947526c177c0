// The recorder keeps what it was told, within its bounds, and never overwrites.
#include "device/record/recorder.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

#include "device/record/record_test_support.h"

namespace stoker::device::record {
namespace {

using ::testing::HasSubstr;

class RecorderTest : public ::testing::Test {
 protected:
  std::unique_ptr<Recorder> start(RecorderOptions options = {}) {
    options.path = folder_.path("r");
    auto recorder = Recorder::start(clock_, options, {.hostname = "db7.example.org"});
    EXPECT_TRUE(recorder) << recorder.error().describe();
    return std::move(*recorder);
  }
  std::vector<Event> read() {
    auto reader = FileReader::open(folder_.path("r"));
    EXPECT_TRUE(reader) << reader.error().describe();
    EXPECT_EQ(reader->facts().lost_bytes, 0U);
    return events_of(*reader);
  }
  // Until the recording has ended by itself.
  std::string ended(const Recorder& recorder) {
    while (recorder.progress().ended.empty()) std::this_thread::sleep_for(Milliseconds(1));
    return recorder.progress().ended;
  }
  // More than a block, and waits until it is written or nothing more is.
  void tell_a_block(Recorder& recorder, unsigned seed) {
    const auto before = recorder.progress().bytes;
    for (unsigned n = 0; n < 4; ++n) tell_much(recorder, 4 * seed + n);
    while (recorder.progress().bytes == before && recorder.progress().ended.empty()) {
      std::this_thread::sleep_for(Milliseconds(1));
    }
  }
  // So many readings that no two are alike and nothing compresses.
  void tell_much(Recorder& recorder, unsigned seed) {
    std::vector<TargetReading> readings;
    for (unsigned n = 0; n < 2000; ++n) {
      const double noise = std::sin(static_cast<double>(seed * 2000 + n));
      readings.push_back({{}, FieldId::power, Reading::of(noise, clock_.monotonic())});
    }
    recorder.on_readings(some_gpu(1), readings);
    clock_.advance(Seconds(1));
  }

  Folder folder_;
  ManualClock clock_;
};

TEST_F(RecorderTest, KeepsWhatItWasToldAndWhenAndHowItEnded) {
  const auto recorder = start();
  const auto began = clock_.monotonic();
  clock_.advance(Seconds(1));
  recorder->on_xid(some_gpu(0), 79, clock_.monotonic());
  clock_.advance(Seconds(1));
  recorder->finish("asked to");
  recorder->on_xid(some_gpu(0), 80, clock_.monotonic());
  const auto events = read();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(std::get<Begin>(events[0].what).wall.since_epoch, Seconds(1'700'000'000));
  EXPECT_EQ(events[1].told, began + Seconds(1));
  EXPECT_EQ(std::get<XidTold>(events[1].what).xid, 79U);
  EXPECT_EQ(events[2].told, began + Seconds(2));
  EXPECT_EQ(std::get<End>(events[2].what).why, "asked to");
}

TEST_F(RecorderTest, TellsAWallClockThatIsSet) {
  const auto recorder = start();
  recorder->on_status({});
  clock_.set_wall({Seconds(5)});
  recorder->on_status({});
  recorder->finish("asked to");
  const auto events = read();
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(std::get<WallTold>(events[2].what).wall.since_epoch, Seconds(5));
}

TEST_F(RecorderTest, NeverOverwrites) {
  write_all_to(folder_.path("r"), "precious");
  const auto recorder = Recorder::start(clock_, {.path = folder_.path("r")}, {});
  ASSERT_FALSE(recorder);
  EXPECT_THAT(recorder.error().describe(), HasSubstr("is there already"));
  EXPECT_EQ(read_all_of(folder_.path("r")), "precious");
}

TEST_F(RecorderTest, StopsAtItsBoundAndWhatIsThereIsWhole) {
  const auto recorder = start({.max_bytes = 100'000});
  for (unsigned round = 0; recorder->progress().ended.empty(); ++round)
    tell_a_block(*recorder, round);
  EXPECT_THAT(ended(*recorder), HasSubstr("bound of 100000 bytes"));
  recorder->finish("asked to");
  EXPECT_LE(read_all_of(folder_.path("r")).size(), 100'000U);
  const auto events = read();
  EXPECT_GT(events.size(), 2U);
  EXPECT_THAT(std::get<End>(events.back().what).why, HasSubstr("bound"));
}

TEST_F(RecorderTest, AFullDiskEndsItAndWhatIsThereIsWhole) {
  // A limit on the size of files is refused as a full disk is, in the middle of a write.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{50'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto recorder = start();
  for (unsigned round = 0; recorder->progress().ended.empty(); ++round)
    tell_a_block(*recorder, round);
  const std::string why = ended(*recorder);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(why, HasSubstr("write " + folder_.path("r")));
  recorder->finish("asked to");
  EXPECT_THAT(std::get<End>(read().back().what).why, HasSubstr("write"));
}

TEST_F(RecorderTest, IsReadableWhileItIsWritten) {
  const auto recorder = start();
  EXPECT_EQ(read().size(), 1U);
  for (unsigned round = 0; recorder->progress().bytes < 200'000; ++round)
    tell_a_block(*recorder, round);
  EXPECT_GT(read().size(), 1U);
}

TEST_F(RecorderTest, ReplacesIdentifiersAlikeWhereverTheyStand) {
  const std::string uuid = "0d1e2f3a-4b5c-6d7e-8f90-a1b2c3d4e5f6";
  GpuInfo gpu{.uuid = "GPU-" + uuid, .serial = "4711000815"};
  gpu.migs = {{.uuid = "MIG-1d1e2f3a-4b5c-6d7e-8f90-a1b2c3d4e5f6"}};
  const auto recorder = start({.replace_identifiers = true});
  recorder->on_inventory({gpu});
  recorder->on_status({.detail = "GPU-" + uuid + " (serial 4711000815) of db7.example.org fell"});
  recorder->on_inventory({gpu});
  recorder->finish("asked to");
  const auto events = read();
  EXPECT_EQ(std::get<Begin>(events[0].what).hostname, "node");
  const GpuInfo& seen = std::get<InventorySeen>(events[1].what).gpus.at(0);
  EXPECT_EQ(seen.uuid, "GPU-00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(seen.migs.at(0).uuid, "MIG-00000000-0000-0000-0000-000000000002");
  EXPECT_EQ(seen.serial, "0000000001");
  EXPECT_EQ(std::get<StatusTold>(events[2].what).status.detail,
            "GPU-00000000-0000-0000-0000-000000000001 (serial 0000000001) of node fell");
  EXPECT_EQ(std::get<InventorySeen>(events[3].what).gpus.at(0).uuid, seen.uuid);
}

}  // namespace
}  // namespace stoker::device::record
