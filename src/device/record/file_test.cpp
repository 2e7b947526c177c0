// Whatever was told is read back, and a file that was cut, damaged or is no recording says so.
#include "device/record/file.h"

#include <gmock/gmock.h>

#include "device/record/record_test_support.h"

namespace stoker::device::record {
namespace {

using ::testing::HasSubstr;

std::vector<Event> three_events() {
  const MonotonicTime at{Seconds(100)};
  return {{at, Begin{.wall = {Seconds(1'700'000'000)}, .hostname = "node"}},
          {at + Seconds(1),
           ReadingsTold{some_gpu(0), {{{}, FieldId::power, Reading::of(321.5, at + Seconds(1))}}}},
          {at + Seconds(2), End{"asked to"}}};
}

const auto each_its_own_frame = [] { return true; };

class FileTest : public ::testing::Test {
 protected:
  Result<FileReader> open(std::string_view bytes) {
    write_all_to(folder_.path("r"), bytes);
    return FileReader::open(folder_.path("r"));
  }
  std::string refusal(std::string_view bytes) {
    const auto reader = open(bytes);
    return reader ? "" : reader.error().describe();
  }
  Folder folder_;
};

RC_GTEST_FIXTURE_PROP(FileTest, WhateverWasToldIsReadBack, ()) {
  const auto events = random_events(40);
  auto reader = open(recording_of(events, [] { return *rc::gen::arbitrary<bool>(); }));
  RC_ASSERT(reader.has_value());
  RC_ASSERT(reader->facts().lost_bytes == 0U);
  RC_ASSERT(reader->facts().last == events.back().told);
  RC_ASSERT(bytes_of(events_of(*reader)) == bytes_of(events));
}

TEST_F(FileTest, CutAnywhereItGivesItsWholeFramesAndSaysWhatIsLost) {
  const auto events = three_events();
  const std::string whole = recording_of(events, each_its_own_frame);
  std::vector<std::size_t> ends = {magic.size()};
  for (std::size_t n = 1; n <= events.size(); ++n) {
    ends.push_back(
        recording_of({events.begin(), events.begin() + static_cast<long>(n)}, each_its_own_frame)
            .size());
  }
  ASSERT_EQ(ends.back(), whole.size());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    auto reader = open(whole.substr(0, size));
    const auto frames =
        static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), size) - ends.begin());
    if (frames <= 1) {
      EXPECT_FALSE(reader) << size;
      continue;
    }
    ASSERT_TRUE(reader) << size << ": " << reader.error().describe();
    EXPECT_EQ(reader->facts().lost_bytes, size - ends[frames - 1]) << size;
    EXPECT_EQ(events_of(*reader).size(), frames - 1) << size;
  }
}

TEST_F(FileTest, AChangedByteInTheMiddleIsNotReadOver) {
  const auto events = three_events();
  const std::string whole = recording_of(events, each_its_own_frame);
  const std::size_t first_frame = recording_of({events[0]}, each_its_own_frame).size();
  for (std::size_t at = magic.size() + 4; at < first_frame; ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    EXPECT_THAT(refusal(changed), HasSubstr("changed or damaged 19 bytes from its beginning"))
        << at;
  }
}

TEST_F(FileTest, ATailThatAPowerCutLeftInZerosIsLeftOut) {
  const std::string whole = recording_of(three_events(), each_its_own_frame);
  auto reader = open(whole + std::string(4096, '\0'));
  ASSERT_TRUE(reader) << reader.error().describe();
  EXPECT_EQ(reader->facts().lost_bytes, 4096U);
  EXPECT_EQ(events_of(*reader).size(), 3U);
}

TEST_F(FileTest, ABlockThatEndsInTheMiddleOfARecordIsCorrupt) {
  Encoder encoder;
  for (const Event& event : three_events()) ASSERT_TRUE(encoder.add(event));
  const std::string whole = encoder.take_block();
  ASSERT_TRUE(Decoder().read_block(whole, [](const Event&) {}));
  std::size_t told_before = 0;
  for (std::size_t size = 1; size < whole.size(); ++size) {
    std::size_t told = 0;
    const auto read = Decoder().read_block(std::string_view(whole).substr(0, size),
                                           [&told](const Event&) { ++told; });
    EXPECT_LE(told, 2U) << size;
    EXPECT_GE(told, told_before) << size;
    told_before = told;
    EXPECT_TRUE(read || read.error().code() == ErrorCode::corrupt) << size;
    EXPECT_FALSE(read && size + 1 == whole.size());
  }
}

TEST_F(FileTest, TimesThatFallAreCorrupt) {
  Encoder encoder;
  ASSERT_TRUE(encoder.add({MonotonicTime{Seconds(5)}, End{"later"}}));
  ASSERT_TRUE(encoder.add({MonotonicTime{Seconds(4)}, End{"earlier"}}));
  std::size_t told = 0;
  EXPECT_FALSE(Decoder().read_block(encoder.take_block(), [&told](const Event&) { ++told; }));
  EXPECT_EQ(told, 1U);
}

TEST_F(FileTest, SaysWhatIsNoRecordingOrAnotherVersion) {
  EXPECT_THAT(refusal("{}"), HasSubstr("no recording of Stoker"));
  EXPECT_THAT(refusal(""), HasSubstr("no recording of Stoker"));
  EXPECT_THAT(refusal("stoker recording 2\n...."), HasSubstr("this Stoker reads version 1"));
  EXPECT_THAT(refusal(magic), HasSubstr("nothing whole is left"));
  const auto missing = FileReader::open(folder_.path("missing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::not_found);
}

// A record of a kind, and a member of a struct, that only another build of Stoker knows.
TEST_F(FileTest, WhatThisBuildDoesNotKnowIsLeftOut) {
  Out begin;
  begin.varint(2);
  begin.varint(2), begin.text("later");
  begin.varint(3), begin.text("node");
  Out block;
  for (const char* name : {"begin", "mood", "hostname", "weather"})
    block.varint(0), block.text(name);
  block.varint(1), block.zigzag(5), block.text(begin.bytes());
  block.varint(4), block.zigzag(1), block.text("sunny");
  auto reader = open(std::string(magic) + make_frame(block.bytes(), {Nanoseconds(6)}));
  ASSERT_TRUE(reader) << reader.error().describe();
  EXPECT_EQ(reader->facts().begin.hostname, "node");
  EXPECT_EQ(reader->facts().begin.processes_period, Nanoseconds(0));
  EXPECT_EQ(events_of(*reader).size(), 1U);
}

TEST_F(FileTest, ReadingsOfAFieldThatThisBuildDoesNotKnowAreLeftOut) {
  Out block;
  for (const char* name :
       {"begin", "series", "node", "warp_factor", "cpu_busy", "node_readings", "ok"}) {
    block.varint(0), block.text(name);
  }
  block.varint(1), block.zigzag(5), block.text(std::string(1, '\0'));
  Out series;
  series.varint(2);
  for (const unsigned field : {4U, 5U}) {
    series.varint(0), series.varint(3), series.varint(0), series.varint(field);
  }
  block.varint(2), block.zigzag(0), block.text(series.bytes());
  Out readings;
  readings.varint(2);
  for (const std::int64_t value : {9, 40}) {
    readings.zigzag(0), readings.varint(4), readings.varint(7), readings.zigzag(value);
    readings.zigzag(0), readings.zigzag(0);
  }
  block.varint(6), block.zigzag(0), block.text(readings.bytes());
  auto reader = open(std::string(magic) + make_frame(block.bytes(), {Nanoseconds(5)}));
  ASSERT_TRUE(reader) << reader.error().describe();
  const auto events = events_of(*reader);
  ASSERT_EQ(events.size(), 2U);
  const auto& told = std::get<NodeReadings>(events[1].what).readings;
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].first, FieldId::cpu_busy);
  EXPECT_EQ(as_double(told[0].second.value), 40);
}

}  // namespace
}  // namespace stoker::device::record
