// stoker diag, end to end on a simulated node: verdicts by exit code, faults found, a worker that hangs, Ctrl-C, a busy card.
#include <gtest/gtest.h>

#include "support/stoker_process.h"

namespace stoker::test {
namespace {

std::vector<std::string> diag(const std::vector<std::string>& more) {
  std::vector<std::string> all = {"diag", "--sim", "hgx-h200x4", "--load-seconds", "0.5"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(DiagVerb, PassesBothLevelsOnASoundNodeAndSaysThatItIsSimulated) {
  const auto first = run_stoker(diag({"--level", "1"}));
  EXPECT_EQ(first.status, 0) << first.out << first.err;
  const auto second = run_stoker(diag({"--level", "2"}));
  EXPECT_EQ(second.status, 0) << second.out << second.err;
  EXPECT_NE(second.out.find("SIMULATED"), std::string::npos);
  EXPECT_NE(second.out.find("0 failed"), std::string::npos) << second.out;
}

TEST(DiagVerb, NamesTheCardAndTheSmThatIsWrong) {
  const auto seen =
      run_stoker(diag({"--test", "compute", "--fault", "wrong-sm=5@2", "-o", "json"}));
  EXPECT_EQ(seen.status, 1) << seen.err;
  EXPECT_NE(seen.out.find("SM 5 computed wrongly; 8 of 8 SMs were tested"), std::string::npos)
      << seen.out;
  EXPECT_NE(seen.out.find("\"failed\": 9"), std::string::npos) << seen.out;
}

TEST(DiagVerb, FailsByEveryFault) {
  const std::vector<std::pair<const char*, const char*>> faults = {
      {"stuck-bit", "memory"},  {"slow-memory=3", "bandwidth"},
      {"slow-pcie", "pcie"},    {"slow-link=4", "peers"},
      {"throttle=3", "tensor"}, {"no-memory", "memory"},
      {"no-peer", "peers"},     {"dead@1", "pcie"}};
  for (const auto& [fault, step] : faults) {
    EXPECT_EQ(
        run_stoker(diag({"--test", step, "--fault", fault, "--gpu", "0", "--gpu", "1"})).status, 1)
        << fault;
  }
}

TEST(DiagVerb, FindsBitsThatItFlipsItself) {
  const auto seen =
      run_stoker(diag({"--test", "memory_pattern", "--gpu", "0", "--inject", "bit-flips=1000"}));
  EXPECT_EQ(seen.status, 1);
  EXPECT_NE(seen.out.find("1000 wrong words"), std::string::npos) << seen.out;
  EXPECT_NE(seen.out.find("all 1000 found, each at its address"), std::string::npos) << seen.out;
}

TEST(DiagVerb, WritesJunit) {
  const auto seen = run_stoker(diag({"--test", "pcie", "-o", "junit"}));
  EXPECT_EQ(seen.status, 0) << seen.err;
  EXPECT_NE(seen.out.find("<testcase classname=\"diag.level2.gpu3\" name=\"pcie_both\">"),
            std::string::npos)
      << seen.out;
}

TEST(DiagVerb, RefusesABusyCardAndWhatIsNotThere) {
  const TempFolder folder;
  ASSERT_EQ(run_stoker({"sim", "node", "hgx-h200x4", "--data", folder.path()}).status, 0);
  ASSERT_EQ(run_stoker({"sim", "load", "training", "--data", folder.path(), "--gpu", "1"}).status,
            0);
  const auto busy = run_stoker(diag({"--test", "pcie", "--data", folder.path()}));
  EXPECT_EQ(busy.status, 2);
  EXPECT_NE(busy.err.find("GPU 1: process"), std::string::npos) << busy.err;
  const auto told = run_stoker(diag({"--test", "pcie", "--data", folder.path(), "-o", "json"}));
  EXPECT_NE(told.out.find("\"not_tested\": 16"), std::string::npos) << told.out;
  EXPECT_EQ(run_stoker(diag({"--test", "pcie", "--data", folder.path(), "--allow-busy"})).status,
            0);
  EXPECT_EQ(run_stoker(diag({"--gpu", "9"})).status, 2);
  EXPECT_EQ(run_stoker(diag({"--test", "memroy"})).status, 2);
  EXPECT_EQ(run_stoker(diag({"--level", "3"})).status, 2);
  EXPECT_EQ(run_stoker(diag({"--level", "2", "--fault", "wrongsm"})).status, 2);
}

TEST(DiagVerb, RefusesAFaultOrInjectionThatWouldNotBeMade) {
  for (const auto& more : std::vector<std::vector<std::string>>{
           {"--level", "1", "--fault", "nonsense"},
           {"--test", "compute_fp32", "--inject", "bit-flips=1000"},
           {"--test", "memory", "--inject", "wrong-sm=1"},
           {"--test", "memory", "--inject", "bit-flips=0"},
           {"--test", "compute", "--inject", "wrong-sm=8"},
           {"--test", "compute", "--fault", "wrong-sm=100"},
           {"--test", "memory", "--fault", "stuck-bit=1e12"},
           {"--test", "memory", "--fault", "stuck-bit=nan"},
           {"--test", "pcie", "--fault", "slow-pcie=-2"},
           {"--test", "memory", "--memory-share", "nan"}}) {
    const auto seen = run_stoker(diag(more));
    EXPECT_EQ(seen.status, 2) << more.back();
    EXPECT_EQ(seen.out, "") << more.back();
  }
}

TEST(DiagVerb, NeedsNoNcclThatStarts) {
  const auto seen = run_stoker(diag({"--test", "peers", "--test", "nccl", "--gpu", "0", "--gpu",
                                     "1", "--fault", "nccl-refuses", "-o", "json"}));
  EXPECT_EQ(seen.status, 0) << seen.out << seen.err;
  EXPECT_NE(seen.out.find("it does not start"), std::string::npos) << seen.out;
}

TEST(DiagVerb, TellsAFaultThatItMetOnTheWayAndPassesNothingThatItDidNotMake) {
  EXPECT_EQ(run_stoker(diag({"--test", "tensor_8192", "--fault", "wrong-sm=2@1"})).status, 1);
  EXPECT_EQ(run_stoker(diag({"--test", "cublas_8192"})).status, 2);  // there is no cuBLAS
}

// A folder with an idle node of four cards.
void make_idle_node(const TempFolder& folder) {
  ASSERT_EQ(run_stoker({"sim", "node", "hgx-h200x4", "--data", folder.path()}).status, 0);
  ASSERT_EQ(run_stoker({"sim", "load", "idle", "--data", folder.path()}).status, 0);
}
void inject(const TempFolder& folder, const std::vector<std::string>& fault) {
  std::vector<std::string> all = {"sim", "inject", "--data", folder.path()};
  all.insert(all.end(), fault.begin(), fault.end());
  ASSERT_EQ(run_stoker(all).status, 0);
}

TEST(DiagVerb, NamesACardThatCantBeOpenedAndDoesNotPassWithoutIt) {
  const TempFolder folder;
  make_idle_node(folder);
  inject(folder, {"xid", "79", "--gpu", "3"});
  const auto seen = run_stoker(diag({"--test", "pcie_both", "--data", folder.path()}));
  EXPECT_EQ(seen.status, 2) << seen.out << seen.err;
  // And of each card that worked, that nothing came over it.
  EXPECT_NE(seen.out.find("9 passed, 0 failed, 1 not tested"), std::string::npos) << seen.out;
  EXPECT_NE(seen.out.find("GPU is lost"), std::string::npos) << seen.out;
  EXPECT_EQ(run_stoker(diag({"--data", folder.path()})).status, 1);
}

// Is there a child of this process that is the worker?
bool has_worker(const StokerProcess& process) {
  const std::string of = "/proc/" + std::to_string(process.pid());
  std::istringstream children(
      read_text(of + "/task/" + std::to_string(process.pid()) + "/children"));
  for (std::string pid; children >> pid;) {
    if (read_text("/proc/" + pid + "/cmdline").starts_with("stoker worker")) return true;
  }
  return false;
}

// What a run of active tests says while these come over its node.
std::string seen_under_load(const std::vector<std::string>& fault, int& status) {
  const TempFolder folder;
  make_idle_node(folder);
  StokerProcess process(diag({"--test", "memory", "--data", folder.path()}));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!has_worker(process) && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  inject(folder, fault);
  status = process.wait().value_or(-1);
  return process.out();
}

TEST(DiagVerb, FailsACardOverWhichAnErrorCameWhileItWorked) {
  int status = 0;
  const auto memory = seen_under_load({"ecc-dbe", "--gpu", "3"}, status);
  EXPECT_EQ(status, 1) << memory;
  EXPECT_NE(memory.find("came under load"), std::string::npos) << memory;
  EXPECT_NE(memory.find("1 uncorrected memory errors"), std::string::npos) << memory;
  EXPECT_NE(memory.find("Xid 48"), std::string::npos) << memory;
  EXPECT_NE(memory.find("2 failed"), std::string::npos) << memory;

  const auto lost = seen_under_load({"xid", "79", "--gpu", "1"}, status);
  EXPECT_EQ(status, 1) << lost;
  EXPECT_NE(lost.find("came under load: the card is lost"), std::string::npos) << lost;
}

void load(const TempFolder& folder, const std::string& gpu) {
  ASSERT_EQ(run_stoker({"sim", "load", "training", "--data", folder.path(), "--gpu", gpu}).status,
            0);
}

// A run that is still at it, once its worker is there.
void wait_for_worker(const StokerProcess& process) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!has_worker(process) && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

TEST(DiagVerb, PassesAndKeepsNothingOfACardToWhichAJobCameMeanwhile) {
  const TempFolder folder;
  make_idle_node(folder);
  StokerProcess process(
      {"diag", "--sim", "hgx-h200x4", "--test", "memory", "--gpu", "3", "--data", folder.path()});
  wait_for_worker(process);
  load(folder, "3");
  EXPECT_EQ(process.wait(), 2) << process.out();
  EXPECT_NE(process.out().find("0 passed, 0 failed"), std::string::npos) << process.out();
  EXPECT_NE(process.out().find("it came while the cards were tested"), std::string::npos)
      << process.out();
  EXPECT_FALSE(std::filesystem::exists(folder.path("diag.db")));
}

TEST(DiagVerb, BlamesNoPcieLinkWhileOtherCardsCameToWork) {
  const TempFolder folder;
  make_idle_node(folder);
  StokerProcess process({"diag", "--sim", "hgx-h200x4", "--test", "pcie", "--gpu", "3", "--data",
                         folder.path(), "--fault", "slow-pcie=4"});
  wait_for_worker(process);
  load(folder, "1");
  EXPECT_EQ(process.wait(), 2) << process.out();
  EXPECT_NE(process.out().find("which may share its way to the host"), std::string::npos)
      << process.out();
}

TEST(DiagVerb, StartsNoTestOnACardToWhichAJobCameDuringLevelOne) {
  const TempFolder folder;
  make_idle_node(folder);
  inject(folder, {"thermal", "--gpu", "3"});  // suspected, so that level 1 looks on
  StokerProcess process(
      {"diag", "--sim", "hgx-h200x4", "--level", "2", "--gpu", "3", "--data", folder.path()});
  // After level 1 has begun, and before what is suspected has held for so long that it is found.
  std::this_thread::sleep_for(std::chrono::seconds(2));
  load(folder, "3");
  ASSERT_EQ(run_stoker({"sim", "clear", "--data", folder.path()}).status, 0);
  EXPECT_EQ(process.wait(std::chrono::seconds(60)), 2) << process.out();
  EXPECT_NE(process.err().find("in use, so nothing was tested"), std::string::npos)
      << process.err() << process.out();
}

TEST(DiagVerb, PassesNoStateWhoseLimitWasNotRead) {
  for (const auto& [call, test] : std::vector<std::pair<const char*, const char*>>{
           {"nvmlDeviceGetMaxPcieLinkWidth", "state_pcie"},
           {"nvmlDeviceGetPowerManagementDefaultLimit", "state_power_limit"},
           {"nvmlDeviceGetEccMode", "state_ecc"},
           {"nvmlDeviceGetNvLinkState", "state_nvlink"}}) {
    const TempFolder folder;
    make_idle_node(folder);
    inject(folder, {"fail", "--call", call, "--return", "UNKNOWN"});
    const auto seen = run_stoker(diag({"--level", "1", "--data", folder.path(), "-o", "junit"}));
    EXPECT_EQ(seen.status, 2) << call << seen.out;
    const auto at = seen.out.find("name=\"" + std::string(test) + "\"><error");
    EXPECT_NE(at, std::string::npos) << call << seen.out;
  }
}

TEST(DiagVerb, FailsAStateThatIsWrong) {
  const TempFolder folder;
  ASSERT_EQ(run_stoker({"sim", "node", "hgx-h200x4", "--data", folder.path()}).status, 0);
  ASSERT_EQ(
      run_stoker({"sim", "inject", "--data", folder.path(), "nvlink-down", "--gpu", "2"}).status,
      0);
  const auto seen = run_stoker(diag({"--level", "1", "--data", folder.path()}));
  EXPECT_EQ(seen.status, 1) << seen.out << seen.err;
  EXPECT_NE(seen.out.find("of 18 NVLinks are up"), std::string::npos) << seen.out;
}

TEST(DiagVerb, FailsACardThatHasBecomeSlowerThanItWasAndShowsItsPast) {
  const TempFolder folder;
  ASSERT_EQ(run_stoker({"sim", "node", "hgx-h200x4", "--data", folder.path()}).status, 0);
  ASSERT_EQ(run_stoker({"sim", "load", "idle", "--data", folder.path()}).status, 0);
  const std::vector<std::string> one = {"diag",  "--sim", "hgx-h200x4", "--test",     "memory_read",
                                        "--gpu", "0",     "--data",     folder.path()};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run_stoker(one).status, 0);
  auto slower = one;
  slower.insert(slower.end(), {"--fault", "slow-memory=1.2"});  // still above the product's limit
  const auto seen = run_stoker(slower);
  EXPECT_EQ(seen.status, 1) << seen.out;
  EXPECT_NE(seen.out.find("below the median of its own last 3 results"), std::string::npos)
      << seen.out;
  for (const auto& more : std::vector<std::vector<std::string>>{
           {"--no-history"}, {"--allow-busy"}, {"--load-seconds", "0.5"}}) {
    auto other = slower;
    other.insert(other.end(), more.begin(), more.end());
    EXPECT_EQ(run_stoker(other).status, 0) << more.front();  // not compared, and not kept
  }
  const auto past = run_stoker({"diag", "history", "--data", folder.path(), "-o", "json"});
  EXPECT_EQ(past.status, 0) << past.err;
  std::size_t rows = 0;
  for (auto at = past.out.find("\"memory_read\""); at != std::string::npos;
       at = past.out.find("\"memory_read\"", at + 1))
    ++rows;
  EXPECT_EQ(rows, 3U) << past.out;  // the fault on purpose is not among them
  EXPECT_EQ(run_stoker({"diag", "history", "--data", folder.path("none")}).status, 2);
}

// Pids of what any thread of this process has started.
std::vector<pid_t> children_of(const StokerProcess& process) {
  std::vector<pid_t> out;
  std::error_code ignored;
  const std::string tasks = "/proc/" + std::to_string(process.pid()) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, ignored)) {
    std::istringstream children(read_text(task.path() / "children"));
    for (pid_t pid = 0; children >> pid;) out.push_back(pid);
  }
  return out;
}

TEST(DiagVerb, HearsCtrlCWhileACardDoesNotAnswerAndLeavesNoProbeBehind) {
  const TempFolder folder;
  make_idle_node(folder);
  inject(folder, {"slow", "--call", "nvmlDeviceGetPowerUsage", "--delay", "4s", "--gpu", "0"});
  StokerProcess process(diag({"--level", "1", "--data", folder.path()}));
  std::vector<pid_t> started;
  for (int i = 0; i < 400 && started.empty(); ++i) {
    started = children_of(process);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_FALSE(started.empty());
  std::this_thread::sleep_for(std::chrono::milliseconds(500 * slowdown));
  const auto asked = std::chrono::steady_clock::now();
  process.signal(SIGINT);
  while (process.out().find("stopped before the end") == std::string::npos &&
         std::chrono::steady_clock::now() - asked < std::chrono::seconds(20)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::milliseconds(1500 * slowdown));
  EXPECT_EQ(process.wait(), 2);
  for (const pid_t pid : started) EXPECT_NE(::kill(pid, 0), 0) << process.err();
}

TEST(DiagVerb, EndsOnCtrlCAndSaysThatItIsNotAVerdict) {
  StokerProcess process(diag({"--test", "memory", "--fault", "hang"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(700 * slowdown));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(std::chrono::seconds(15)), 2);
  EXPECT_NE(process.out().find("stopped"), std::string::npos) << process.out();
}

}  // namespace
}  // namespace stoker::test
