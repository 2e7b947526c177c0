#include "fabric/sweep_file.h"

#include <gtest/gtest.h>

#include "fabric/fabric_test_support.h"
#include "fabric/guid_reader.h"

namespace stoker::fabric {
namespace {

TEST(SweepFile, ReadsBackAllThatWasWritten) {
  auto fabric = two_leaves();
  fabric.count({leaf1, 2}, CounterId::symbol_error, 65'535);
  Port& port = fabric.port({leaf1, 3});
  for (auto& reading : port.counters) reading = CounterReading{1ULL << 40U, wide_bits};
  port.counters_unread = "timeout";
  fabric.port({leaf1, 5}) = Port{};
  fabric.port({leaf1, 5}).unread = "no answer";
  const std::string text = write_sweep(fabric.sweep());
  const auto read = read_sweep(text);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(write_sweep(*read), text);
  EXPECT_EQ(read->taken, fabric.sweep().taken);
  EXPECT_EQ(cables_of(*read), cables_of(fabric.sweep()));
  EXPECT_EQ(read->port({leaf1, 3})->counters, port.counters);
  EXPECT_EQ(read->port({leaf1, 5})->unread, "no answer");
}

std::string problem_of(std::string_view text) {
  const auto read = read_sweep(text);
  return read ? "" : read.error().message();
}

TEST(SweepFile, SaysWhatIsWrongWithOne) {
  const std::string head = R"({"schema":"stoker.dev/v1/fabric-sweep","taken_ns":1,"nodes":)";
  EXPECT_EQ(problem_of(head + "[]}"), "it has no node, so nobody looked at anything");
  EXPECT_NE(problem_of("").find("no sweep of a fabric"), std::string::npos);
  EXPECT_NE(problem_of(R"({"schema":"stoker.dev/v1/finding"})").find("no sweep of a fabric"),
            std::string::npos);
  EXPECT_EQ(problem_of(R"({"schema":"stoker.dev/v1/fabric-sweep"})"), "it has no \"taken_ns\"");
  EXPECT_NE(problem_of(head + R"([{"guid":"x"}]})").find("no \"guid\""), std::string::npos);
  EXPECT_EQ(problem_of(head + R"([{"guid":"0x1","ports":[{"port":255}]}]})"),
            "node 0x0000000000000001: \"port\" has to be a number from 0 to 254");
  EXPECT_EQ(problem_of(head + R"([{"guid":"0x1","ports":[{"port":1},{"port":1}]}]})"),
            "node 0x0000000000000001: port 1 stands there twice");
  EXPECT_EQ(
      problem_of(head + R"([{"guid":"0x1","ports":[{"port":1,"counters":{"link_downed":256}}]}]})"),
      "node 0x0000000000000001: port 1: \"link_downed\" does not fit 8 bits");
}

TEST(Guids, AreReadAsPeopleWriteThem) {
  EXPECT_EQ(read_guid("0x0002c903007b78b0"), 0x0002c903007b78b0U);
  EXPECT_EQ(read_guid("2C903"), 0x2c903U);
  for (const char* none : {"", "0x", "0", "0x00", "12345678901234567", "0xg"})
    EXPECT_EQ(read_guid(none), std::nullopt) << none;
}

}  // namespace
}  // namespace stoker::fabric
