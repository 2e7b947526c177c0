#include "event/log_line.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stoker::event {
namespace {

constexpr const char* xid =
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=5, name=x, GPU has fallen off the bus.";

struct LineRow {
  std::string before;
  std::string time;  // of the line, or the reason for none
  std::string program = "kernel";
};

std::string time_of(const LogLine& line) {
  return line.time.wall ? format_utc(*line.time.wall) : std::string(line.time.reason);
}

TEST(LogLine, IsReadBehindWhatEachLogPutsInFront) {
  const std::vector<LineRow> rows = {
      {"", "not_said", ""},
      {"4,388,81565072,c;", "since_boot"},
      {"[  123.456789] ", "since_boot"},
      {"[    5.000000] [    T123] ", "since_boot"},
      {"[  123.456789 <    0.000003>] ", "since_boot"},
      {"[<    0.000003>] ", "not_said"},
      {"[  +0.000003] ", "not_said"},
      {"[  123.456789] gpu-17 kernel: ", "since_boot"},
      {"[Aug  9 13:32] ", "no_year"},
      {"[Fri Aug  9 13:32:56 2024] ", "no_zone"},
      {"[Fr Aug  9 13:32:56 2024] ", "no_zone"},
      {"[ven. août  9 13:32:56 2024] ", "no_zone"},
      {"2024-08-09T13:32:56,123456+02:00 ", "2024-08-09T11:32:56.123Z", ""},
      {"kern  :warn  : [  123.456789] ", "since_boot"},
      {"<4>[  123.456789] ", "since_boot"},
      {"Aug  9 13:32:56 gpu-17 kernel: ", "no_year"},
      {"Aug 09 13:32:56.123456 gpu-17 kernel: ", "no_year"},
      {"Aug  9 13:32:56 gpu-17 kernel: [  123.456789] ", "no_year"},
      {"Mar 21 21:42:01 kernel: ", "no_year"},
      {"11月 15 14:15:47 gpu-17 kernel: ", "no_year"},
      {"août 09 13:32:56 gpu-17 kernel: ", "no_year"},
      {"9. Aug 13:32:56 gpu-17 kernel: ", "no_year"},
      {"2024-08-09T13:32:56+0200 gpu-17 kernel: ", "2024-08-09T11:32:56.000Z"},
      {"Fri 2024-08-09 13:32:56 UTC gpu-17 kernel: ", "2024-08-09T13:32:56.000Z"},
      {"Fri 2024-08-09 13:32:56 CEST gpu-17 kernel: ", "no_zone"},
      {"1723209176.123456 gpu-17 kernel: ", "2024-08-09T13:12:56.123Z"},
      {"<4>Aug  9 13:32:56 gpu-17 kernel: ", "no_year"},
      {"<4>1 2024-08-09T13:32:56.5Z gpu-17 kernel - - - ", "2024-08-09T13:32:56.500Z"},
      {"<4>1 2024-08-09T13:32:56.5Z gpu-17 kernel 1 ID1 [a@1 b=\"c\"][d@2] \xef\xbb\xbf",
       "2024-08-09T13:32:56.500Z"},
      {"2024-08-09T13:32:56.123456789Z stdout F [  123.456789] ", "2024-08-09T13:32:56.123Z"},
      {"2024-08-09T13:32:56.123456789Z stderr F ", "2024-08-09T13:32:56.123Z", ""},
      {"10.5.0.2: kern: warning: [2024-08-09T13:32:56.123456789Z]: ", "2024-08-09T13:32:56.123Z"},
      {"kern:    info: [2024-08-09T13:32:56.123456789Z]: ", "2024-08-09T13:32:56.123Z"},
      {"[pod/gpu-debug-x/dmesg] [  123.456789] ", "since_boot"},
      {"dmesg-1  | [  123.456789] ", "since_boot"},
      {"\x1b[32m[  123.456789] \x1b[0m\x1b[33m", "since_boot"},
      {"#033[32m[  123.456789] #033[0m", "since_boot"},
  };
  LogLineReader reader;
  for (const auto& row : rows) {
    const std::string whole = row.before + xid + "\r";
    const auto line = reader.read(whole);
    EXPECT_EQ(line.text, xid) << row.before;
    EXPECT_EQ(time_of(line), row.time) << row.before;
    EXPECT_EQ(line.program, row.program) << row.before;
    EXPECT_EQ(line.kernel, row.program == "kernel") << row.before;
  }
}

TEST(LogLine, IsReadOutOfAKernelsTrace) {
  const std::string said = std::string(xid).substr(std::string_view("NVRM: ").size());
  LogLineReader reader;
  for (const std::string head :
       {"          <idle>-0       [003] d.h1. 12345.678901: nvidia_dev_xid: ",
        "         python3-4242  (   4242) [003] d.h1. 12345.678901: nvidia_dev_xid: ",
        "irq/92-nvidia-1790 [118] ..... 12345.678901: nvidia_dev_xid: ",
        "kworker/u8:[0]-33    [001] 12345.678901: nvidia_dev_xid:       "}) {
    const std::string whole = head + said;
    const auto line = reader.read(whole);
    EXPECT_EQ(line.text, said) << head;
    EXPECT_TRUE(line.kernel) << head;
    EXPECT_EQ(line.time.text, "12345.678901") << head;
    EXPECT_EQ(line.time.reason, "since_boot") << head;
  }
  // Of a clock that counts events; of another tracepoint; of a program that prints such a line.
  for (const std::string head :
       {"<idle>-0 [003] d.h1. 12345: nvidia_dev_xid: ",
        "<idle>-0 [003] d.h1. 12345.678901: sched_switch: ",
        "Aug  9 13:32:56 gpu-17 xid-tracer: nvidia_dev_xid: ",
        "Aug  9 13:32:56 gpu-17 mallory: x-1 [003] d.h1. 12345.678901: nvidia_dev_xid: "}) {
    const std::string whole = head + said;
    EXPECT_FALSE(reader.read(whole).kernel) << head;
  }
}

TEST(LogLine, IsReadOutOfRecordsWithFields) {
  LogLineReader reader;
  const std::string journal = fmt::format(
      R"({{"__REALTIME_TIMESTAMP":"1723203176123456","_BOOT_ID":"b1","SYSLOG_IDENTIFIER":"kernel",)"
      R"("_TRANSPORT":"kernel","MESSAGE":"{}"}})",
      xid);
  auto line = reader.read(journal);
  EXPECT_EQ(line.text, xid);
  EXPECT_EQ(time_of(line), "2024-08-09T11:32:56.123Z");
  EXPECT_EQ(line.boot, "b1");
  EXPECT_TRUE(line.kernel);

  line = reader.read(R"({"MESSAGE":[78,86,82,77,58,32,88],"_TRANSPORT":"kernel"})");
  EXPECT_EQ(line.text, "NVRM: X");

  const std::string docker = fmt::format(
      R"({{"log":"[  123.456789] {}\n","stream":"stdout","attrs":{{"a":["}}"]}},"time":"2024-08-09T13:32:56.5Z"}})",
      xid);
  line = reader.read(docker);
  EXPECT_EQ(line.text, xid);
  EXPECT_EQ(time_of(line), "2024-08-09T13:32:56.500Z");

  const std::string exported = fmt::format(
      "__CURSOR=s=1\n__REALTIME_TIMESTAMP=1723203176123456\n_BOOT_ID=b2\n_TRANSPORT="
      "kernel\nMESSAGE={}\n",
      xid);
  line = reader.read(exported);
  EXPECT_EQ(line.text, xid);
  EXPECT_EQ(line.boot, "b2");

  const std::string two = "NVRM: one\nNVRM: two";
  line = reader.read(std::string("__CURSOR=s=1\nMESSAGE\n") + std::string("\x13\0\0\0\0\0\0\0", 8) +
                     two + "\n_TRANSPORT=kernel\n");
  EXPECT_EQ(line.text, two);
  EXPECT_TRUE(line.kernel);
}

TEST(LogLine, KnowsThatAProgramSaidIt) {
  LogLineReader reader;
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"Aug  9 13:32:56 gpu-17 python3[812]: ", "python3"},
      {"2024-08-09T13:32:56+0200 gpu-17 sshd[1]: ", "sshd"},
      {"<13>Aug  9 13:32:56 gpu-17 logger: ", "logger"},
      {"<14>1 2024-08-09T13:32:56Z gpu-17 app - - - ", "app"},
      {"12,388,81565072,-;", "?"},
      {"[  123.456789] gpu-17 python3[812]: ", "python3"},
      {"user  :notice: [  123.456789] ", "?"},
  };
  for (const auto& [before, program] : rows) {
    const std::string whole = before + xid;
    const auto line = reader.read(whole);
    EXPECT_EQ(line.program, program) << before;
    EXPECT_FALSE(line.kernel) << before;
  }
  const std::string message =
      fmt::format(R"({{"SYSLOG_IDENTIFIER":"kernel","_TRANSPORT":"stdout","MESSAGE":"{}"}})", xid);
  const auto forged = reader.read(message);
  EXPECT_FALSE(forged.kernel) << "an identifier is what a program says of itself";
  EXPECT_NE(forged.program, "kernel");
}

TEST(LogLine, OfFabricManagersOwnLogIsItsWord) {
  LogLineReader reader;
  const auto line =
      reader.read("[May 16 2025 15:10:21] [ERROR] [tid 30042] detected NVSwitch fatal error");
  EXPECT_EQ(line.program, "nv-fabricmanager");
  EXPECT_TRUE(line.text.starts_with("[May 16"));
}

}  // namespace
}  // namespace stoker::event
