#include "event/log_scan.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "event/event_text_test_support.h"

namespace stoker::event {
namespace {

std::vector<FoundEvent> scan(const std::string& text, std::size_t piece) {
  std::vector<FoundEvent> found;
  LogScan scan("a.log", [&](FoundEvent&& each) { found.push_back(std::move(each)); });
  for (std::size_t at = 0; at < text.size(); at += piece)
    scan.add(std::string_view(text).substr(at, piece));
  scan.finish();
  return found;
}

std::string in_lines(const std::vector<FoundEvent>& found) {
  std::string out;
  for (const auto& each : found) {
    out += fmt::format("{}@{} {}\n", each.line, each.event.origin.offset, in_words(each.event));
  }
  return out;
}

std::string read_fixture(const std::string& name) {
  std::ifstream in(STOKER_SOURCE_DIR "/tests/fixtures/" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(LogScan, FindsTheSameHoweverTheLogIsCutIntoPieces) {
  const auto text = read_fixture("logs/mixed.log");
  ASSERT_FALSE(text.empty());
  const auto whole = in_lines(scan(text, text.size()));
  EXPECT_NE(whole.find("xid 79 0000:5d:00.0"), std::string::npos) << whole;
  for (const std::size_t piece : {1U, 7U, 64U, 1000U})
    EXPECT_EQ(in_lines(scan(text, piece)), whole) << piece;
}

TEST(LogScan, GivesEachEventTheLineAndTheByteWhereItStands) {
  const std::string text =
      "one\ntwo\nNVRM: Xid (PCI:0000:3b:00): 79, x\nfour\nNVRM: Xid (PCI:0000:3b:00): 45, x";
  EXPECT_EQ(in_lines(scan(text, text.size())),
            "3@8 xid 79 0000:3b:00.0\n5@47 xid 45 0000:3b:00.0\n");
  const auto found = scan(text, 5);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].event.origin, (EventOrigin{.boot = "", .source = "a.log", .offset = 8}));
}

TEST(LogScan, ReadsTheEntriesOfAJournalsExportWhole) {
  const std::string entry =
      "__CURSOR=s=1\n__REALTIME_TIMESTAMP=1723203176123456\nMESSAGE=NVRM: Xid (PCI:0000:3b:00): "
      "79, x\n"
      "_TRANSPORT=kernel\n_BOOT_ID=b1\n\n";
  const std::string other =
      "__CURSOR=s=2\nMESSAGE=NVRM: Xid (PCI:0000:3b:00): 31, "
      "x\n_TRANSPORT=stdout\nSYSLOG_IDENTIFIER=kernel\n\n";
  const auto text = entry + other + entry;
  for (const std::size_t piece : {std::size_t{3}, text.size()}) {
    const auto found = scan(text, piece);
    ASSERT_EQ(found.size(), 2U) << "what a program says of itself is not the kernel's word";
    EXPECT_EQ(found[0].event.origin.boot, "b1");
    EXPECT_EQ(found[1].event.origin.offset, entry.size() + other.size());
    EXPECT_TRUE(found[0].event.time.has_value());
  }
}

TEST(LogScan, ReadsWhatACardsDriverPrintedWhileProgramsFailed) {
  EXPECT_EQ(
      in_lines(scan(read_fixture("captures/h200x4/kmsg-live.txt"), 4096)),
      "11@962 xid 31 0000:00:06.0 pid=1281 process=xid engine=GRAPHICS address=0x802c_c9e00000 "
      "fault=FAULT_PDE "
      "access=ACCESS_TYPE_VIRT_WRITE uuid=GPU-000000a0-0000-4000-8000-000000000001 "
      "serial=1650000000001\n"
      "14@1339 xid 13 0000:00:07.0 gpc=1 tpc=4 sm=0 uuid=GPU-000000a1-0000-4000-8000-000000000002 "
      "serial=1650000000002\n"
      "15@1459 xid 13 0000:00:07.0 uuid=GPU-000000a1-0000-4000-8000-000000000002 "
      "serial=1650000000002\n"
      "16@1600 xid 13 0000:00:07.0 pid=1303 process=xid "
      "uuid=GPU-000000a1-0000-4000-8000-000000000002 "
      "serial=1650000000002\n"
      "19@1905 xid 43 0000:00:08.0 pid=1329 process=xid "
      "uuid=GPU-000000a2-0000-4000-8000-000000000003 "
      "serial=1650000000003\n"
      "22@2142 xid 31 0000:00:09.0 pid=1352 process=xid engine=GRAPHICS address=0x7fbb_92470000 "
      "fault=FAULT_PDE access=ACCESS_TYPE_VIRT_READ uuid=GPU-000000a3-0000-4000-8000-000000000004 "
      "serial=1650000000004\n");
}

TEST(LogScan, BoundsALineThatNeverEnds) {
  std::vector<FoundEvent> found;
  LogScan scan("a.log", [&](FoundEvent&& each) { found.push_back(std::move(each)); });
  const std::string piece(std::size_t{300} * 1024, 'x');
  for (int n = 0; n < 20; ++n) scan.add(piece);
  scan.add("\nNVRM: Xid (PCI:0000:3b:00): 79, x\n");
  scan.finish();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].line, 2U);
}

}  // namespace
}  // namespace stoker::event
