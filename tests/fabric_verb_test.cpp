// stoker fabric sweep, end to end without a fabric: sweeps that were saved, and what can't be done.
// tests/real/fabric_test.py has a fabric, and a stub of UFM.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/stoker_process.h"

namespace stoker {
namespace {

using test::run_stoker;

// Two nodes and the cable between them, `taken` seconds after 1970.
std::string sweep_text(int taken, int symbol_errors) {
  const auto port = [&](const std::string& peer) {
    return R"({"port":1,"state":"active","physical":"link_up","lanes":4,"speed":"HDR","peer":{"guid":")" +
           peer + R"(","port":1},"counters":{"symbol_error":)" + std::to_string(symbol_errors) +
           "}}";
  };
  return R"({"schema":"stoker.dev/v1/fabric-sweep","taken_ns":)" + std::to_string(taken) +
         "000000000" +
         R"(,"source":"a test","nodes":[{"guid":"0x10","kind":"adapter","name":"gpu01 mlx5_0","ports":[)" +
         port("0x20") + R"(]},{"guid":"0x20","kind":"switch","name":"leaf1","ports":[)" +
         port("0x10") + "]}]}";
}

TEST(FabricVerb, JudgesSweepsThatWereSaved) {
  const test::TempFolder folder;
  const std::string before = folder.write("before.json", sweep_text(1'000, 0));
  const std::string now = folder.write("now.json", sweep_text(1'300, 9'000));
  const auto clean = run_stoker({"fabric", "sweep", "--from", before, "--against", now});
  EXPECT_EQ(clean.status, 0) << clean.err;
  EXPECT_NE(clean.out.find("no findings in 1 cables and 2 ports"), std::string::npos) << clean.out;
  const auto bad = run_stoker({"fabric", "sweep", "--from", now, "--previous", before});
  EXPECT_EQ(bad.status, 1);
  EXPECT_NE(bad.out.find("fabric-cable-bad  port leaf1 port 1 <-> gpu01 mlx5_0 port 1"),
            std::string::npos)
      << bad.out;
  EXPECT_NE(bad.out.find("└─ port 1   ─ 4X HDR  ─ bad            ─ gpu01 mlx5_0 port 1"),
            std::string::npos)
      << bad.out;
  const auto json =
      run_stoker({"fabric", "sweep", "--from", now, "--previous", before, "-o", "json"});
  EXPECT_EQ(json.status, 1);
  EXPECT_NE(
      json.out.find(
          R"("verdict":"bad","finding":0,"ends":[{"guid":"0x0000000000000020","node":"leaf1","port":1)"),
      std::string::npos)
      << json.out;
}

TEST(FabricVerb, SaysWhatItCanNotDo) {
  const test::TempFolder folder;
  const std::string none = folder.write("none.json", "{}");
  EXPECT_EQ(run_stoker({"fabric"}).status, 2);
  EXPECT_EQ(run_stoker({"fabric", "sweep", "--from", "/no/such/file"}).status, 2);
  const auto wrong = run_stoker({"fabric", "sweep", "--from", none});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("none.json: it is no sweep of a fabric"), std::string::npos)
      << wrong.err;
  EXPECT_EQ(run_stoker({"fabric", "sweep", "--for", "5"}).status, 2);
  EXPECT_EQ(run_stoker({"fabric", "sweep", "--ufm", "https://ufm.example"}).status, 2);
  if (std::filesystem::exists("/dev/infiniband")) GTEST_SKIP() << "this machine has InfiniBand";
  const auto without = run_stoker({"fabric", "sweep"});
  EXPECT_EQ(without.status, 2);
  EXPECT_NE(without.err.find("InfiniBand"), std::string::npos) << without.err;
}

}  // namespace
}  // namespace stoker
