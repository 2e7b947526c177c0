// stoker replay, end to end: what the checks and the incidents make of a recording.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "device/record/file.h"
#include "support/golden.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using device::record::Begin;
using device::record::DriverSeen;
using device::record::Encoder;
using device::record::End;
using device::record::InventorySeen;
using device::record::magic;
using device::record::make_frame;
using device::record::ReadingsTold;
using device::record::StateTold;
using device::record::StatusTold;
using device::record::What;
using device::record::XidTold;
using ::testing::HasSubstr;

constexpr PciAddress card{.domain = 0, .bus = 0x9a, .device = 0, .function = 0};

MonotonicTime second(std::int64_t n) { return {Seconds(1000 + n)}; }

device::GpuInfo info() {
  device::GpuInfo gpu;
  gpu.pci = card;
  gpu.uuid = "GPU-00000000-0000-0000-0000-000000000000";
  gpu.name = "NVIDIA H100 80GB HBM3";
  gpu.architecture = "hopper";
  gpu.slowdown_celsius = 89;
  return gpu;
}

// A card that is too hot from the tenth to the thirtieth second, and off the bus in the hundredth.
std::string hot_recording() {
  Encoder encoder;
  const auto add = [&](std::int64_t at, What what) {
    EXPECT_TRUE(encoder.add({second(at), std::move(what)}));
  };
  add(0, Begin{.wall = {Seconds(1'700'000'000)},
               .version = "0.1.0",
               .hostname = "node-1",
               .periods = {Seconds(1), Seconds(10), Seconds(1), Seconds(60), Seconds(0)},
               .processes_period = Seconds(5)});
  device::SourceStatus status;
  status.state = device::SourceState::running;
  status.since = second(0);
  add(0, StatusTold{status});
  add(0, DriverSeen{{.driver_version = "580.159.04", .nvml_version = "", .abi_notes = {}}});
  add(0, InventorySeen{{info()}});
  for (std::int64_t at = 0; at < 100; ++at) {
    const std::int64_t celsius = at >= 10 && at < 30 ? 91 : 60;
    add(at, ReadingsTold{card, {{{}, FieldId::temperature, Reading::of(celsius, second(at))}}});
  }
  add(100, XidTold{card, 79, second(100)});
  add(101, StateTold{card, device::GpuState::lost, ""});
  add(110, End{"a signal"});
  return std::string(magic) + make_frame(encoder.take_block(), second(110));
}

class ReplayChecks : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
    return folder_ + "/" + name;
  }

  std::string folder_ = ::testing::TempDir() + "stoker-replay-XXXXXX";
};

TEST_F(ReplayChecks, TellsWhenAChecksFiredAndWhichIncidentsOpened) {
  const auto file = write("hot.rec", hot_recording());
  const auto table = run_stoker({"replay", file});
  EXPECT_EQ(table.status, 1) << table.err;
  expect_golden("cli/replay.txt", table.out);
  const auto json = run_stoker({"replay", file, "-o", "json"});
  EXPECT_EQ(json.status, 1) << json.err;
  const auto document = nlohmann::json::parse(json.out);
  EXPECT_EQ(document["schema"], "stoker.dev/v1/timeline");
  EXPECT_EQ(document["incidents"].size(), 2U) << json.out;
  EXPECT_EQ(document["incidents"][1]["cause"], "gpu-off-bus");
  EXPECT_EQ(document["incidents"][1]["action"], "reboot");
}

TEST_F(ReplayChecks, TellsAPartOfIt) {
  const auto file = write("hot.rec", hot_recording());
  const auto first = run_stoker({"replay", file, "--until", "50s"});
  EXPECT_THAT(first.out, HasSubstr("temperature-slowdown"));
  EXPECT_THAT(first.out, ::testing::Not(HasSubstr("gpu-lost")));
  const auto last = run_stoker({"replay", file, "--since", "95s"});
  EXPECT_THAT(last.out, ::testing::Not(HasSubstr("began     check temperature-slowdown")));
  EXPECT_THAT(last.out, HasSubstr("check gpu-lost"));
  EXPECT_EQ(run_stoker({"replay", file, "--since", "soon"}).status, 2);
}

TEST_F(ReplayChecks, RefusesWhatIsNoRecordingAndUsesWhatIsWhole) {
  const auto missing = run_stoker({"replay", folder_ + "/none.rec"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("none.rec"));
  EXPECT_EQ(run_stoker({"replay", write("text.rec", "a text\n")}).status, 2);
  auto bytes = hot_recording();
  const auto cut = run_stoker({"replay", write("cut.rec", bytes + bytes.substr(magic.size(), 99))});
  EXPECT_EQ(cut.status, 1) << cut.err;
  EXPECT_THAT(cut.err, HasSubstr("was cut: 99 bytes at its end are lost"));
  bytes[magic.size() + 40] ^= 1;
  const auto broken = run_stoker({"replay", write("broken.rec", bytes)});
  EXPECT_EQ(broken.status, 2);
  EXPECT_TRUE(broken.out.empty()) << broken.out;
}

TEST_F(ReplayChecks, WhereNoGpuWasReadNothingIsKnown) {
  std::ifstream whole(STOKER_SOURCE_DIR "/tests/fixtures/recordings/h200x2.rec", std::ios::binary);
  std::string start(3000, '\0');
  whole.read(start.data(), static_cast<std::streamsize>(start.size()));
  const auto begin = run_stoker({"replay", write("begin.rec", start)});
  EXPECT_EQ(begin.status, 2);
  EXPECT_THAT(begin.err, HasSubstr("no GPU was ever read in it"));
}

TEST_F(ReplayChecks, SaysOnAQuietRecordingThatNothingWasFound) {
  const auto quiet = run_stoker(
      {"replay", std::string(STOKER_SOURCE_DIR) + "/tests/fixtures/recordings/h200x2.rec"});
  EXPECT_EQ(quiet.status, 0) << quiet.err << quiet.out;
  EXPECT_THAT(quiet.out, HasSubstr("2 GPUs, 51 looks: 0 checks fired, 0 incidents"));
}

TEST_F(ReplayChecks, HelpIsGolden) {
  const auto help = run_stoker({"replay", "--help"});
  EXPECT_EQ(help.status, 0);
  expect_golden("cli/replay_help.txt", help.out);
}

TEST_F(ReplayChecks, ALoadTraceIsHeldAsLongAsTheChecksNeed) {
  const std::string trace = STOKER_SOURCE_DIR "/tests/fixtures/load-traces/hang_allreduce.jsonl";
  const auto alone = run_stoker({"replay", trace, "--hold", "3m"});
  EXPECT_EQ(alone.status, 0) << "a suspicion is no incident";
  EXPECT_THAT(alone.out, HasSubstr("job-suspect"));
  EXPECT_THAT(run_stoker({"replay", trace}).out, HasSubstr("0 checks fired"));

  std::ifstream in(trace);
  std::string owned;
  for (std::string line; std::getline(in, line);) {
    auto row = nlohmann::json::parse(line);
    row.update({{"job", "train"}, {"rank", row["gpu"]}, {"host_cpu", 0.1}, {"host_io", 0}});
    owned += row.dump() + "\n";
  }
  const auto known =
      run_stoker({"replay", write("owned.jsonl", owned), "--hold", "3m", "-o", "json"});
  EXPECT_EQ(known.status, 1);
  EXPECT_THAT(known.out, HasSubstr("\"cause\": \"job-hung\""));
}

TEST_F(ReplayChecks, ALineOfALoadTraceThatIsWrongIsNamed) {
  const std::string trace = STOKER_SOURCE_DIR "/tests/fixtures/load-traces/idle.jsonl";
  EXPECT_THAT(run_stoker({"replay", trace, "--hold", "2h"}).err, HasSubstr("at most 1h"));
  const auto falls = run_stoker(
      {"replay", write("falls.jsonl", "{\"t\": 1, \"gpu\": 0}\n{\"t\": 0.5, \"gpu\": 0}\n")});
  EXPECT_EQ(falls.status, 2);
  EXPECT_THAT(falls.err, HasSubstr(":2: \"t\" is before the line above"));
  EXPECT_THAT(run_stoker({"replay", write("no-gpu.jsonl", "{\"t\": 1}\n")}).err,
              HasSubstr(":1: \"gpu\" has to be a number"));
}

}  // namespace
}  // namespace stoker::test
