// Faults of the probe process itself, and of the way in: killed, stopped, let go on demand, an agent
// that dies, no permission, a clock that is set back.
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

#include "net/http_client.h"
#include "support/faulty_node.h"

namespace stoker::test {
namespace {

using ProbeFaults = FaultyNode;

TEST_F(ProbeFaults, AKilledProbeIsReplacedBeforeAnythingGoesStale) {
  watch_until_well();
  wait([] { return false; }, Seconds(1));
  unharmed = {0, 1, 2, 3};
  const auto first = now.source.probe_pid;
  began = clock.monotonic();
  kill(first, SIGKILL);
  ASSERT_TRUE(wait([&] { return now.source.restarts == 1 && well(); }, told_within)) << describe();
  EXPECT_NE(now.source.probe_pid, first);
  EXPECT_LE(oldest_unharmed, fresh);
}

// "T (stopped)" while it is: proc(5), /proc/PID/status.
bool is_stopped(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::stringstream text;
  text << status.rdbuf();
  return text.str().find("State:\tT") != std::string::npos;
}

// That it is told, too, is in probe_lifecycle_test: here that lasts but a few milliseconds.
TEST_F(ProbeFaults, AStoppedProbeIsWoken) {
  watch_until_well();
  const auto pid = now.source.probe_pid;
  kill(pid, SIGSTOP);
  ASSERT_TRUE(wait([&] { return is_stopped(pid); }, Seconds(5)));
  ASSERT_TRUE(wait([&] { return !is_stopped(pid); }, Seconds(10))) << describe();
  EXPECT_TRUE(wait_until_well(Seconds(10))) << describe();
  EXPECT_EQ(now.source.probe_pid, pid);
}

TEST_F(ProbeFaults, LetsGoOfEveryHandleOnDemandAndComesBack) {
  watch_until_well();
  supervisor->release();
  ASSERT_TRUE(wait_for_source(SourceState::released)) << describe();
  EXPECT_TRUE(probes().empty());
  EXPECT_EQ(reason(0), Reason::stale);
  wait([] { return false; }, Seconds(1));
  EXPECT_TRUE(probes().empty());
  supervisor->resume();
  EXPECT_TRUE(wait_until_well(Seconds(3))) << describe();
}

TEST_F(ProbeFaults, AClockThatIsSetBackChangesNothing) {
  watch_until_well();
  unharmed = {0, 1, 2, 3};
  clock.step(-std::chrono::hours(24 * 365));
  wait([] { return false; }, Seconds(2));
  EXPECT_TRUE(well()) << describe();
  EXPECT_EQ(now.source.restarts, 0U);
  EXPECT_LE(oldest_unharmed, fresh);
}

TEST_F(ProbeFaults, AProbeWithoutRightsSaysSo) {
  if (getuid() != 0) GTEST_SKIP() << "only root can give its rights away";
  // The user that it becomes may not get into the folder of the build.
  const TempFolder folder;
  std::filesystem::permissions(folder.path("."), std::filesystem::perms(0755));
  std::filesystem::copy_file(options.program, folder.path("stoker"));
  const std::string library = folder.path("libnvidia-ml.so.1");
  std::filesystem::copy_file(std::filesystem::canonical(options.library), library);
  options.program = folder.path("stoker");
  options.library = library;
  options.arguments = {"--reuid",
                       "65534",
                       "--regid",
                       "65534",
                       "--clear-groups",
                       "--inh-caps=-all",
                       "--bounding-set=-all",
                       options.program,
                       "probe"};
  options.program = "/usr/bin/setpriv";
  std::filesystem::permissions(
      node->state_file(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  watch();
  ASSERT_TRUE(wait_for_source(SourceState::no_permission, Seconds(5))) << describe();
  EXPECT_FALSE(now.source.detail.empty());
}

TEST_F(ProbeFaults, AProbeThatCanNotBeStartedIsToldWithItsReason) {
  options.program = "/nonexistent/stoker";
  watch();
  ASSERT_TRUE(wait_for_source(SourceState::failed)) << describe();
  EXPECT_NE(now.source.detail.find("/nonexistent/stoker"), std::string::npos) << describe();
}

TEST_F(ProbeFaults, AProgramThatSpeaksNothingOfTheProtocolIsTold) {
  options.program = "/bin/true";
  watch();
  ASSERT_TRUE(wait_for_source(SourceState::failed)) << describe();
  EXPECT_NE(now.source.detail.find("exited with status 0"), std::string::npos) << describe();
}

TEST(AgentFaults, TheProbeLeavesWhenItsAgentIsKilled) {
  const TempFolder folder;
  StokerProcess agent(
      {"up", "--sim", "t4x4", "--data", folder.path("data"), "--listen", "127.0.0.1:0"});
  const std::string url = agent.wait_ready();
  ASSERT_FALSE(url.empty()) << agent.err();
  const auto children = [&agent] {
    const std::string pid = std::to_string(agent.pid());
    std::vector<pid_t> all;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + pid + "/task")) {
      std::ifstream file(task.path() / "children");
      all.insert(all.end(), std::istream_iterator<pid_t>(file), std::istream_iterator<pid_t>());
    }
    return all;
  }();
  ASSERT_EQ(children.size(), 1U);
  agent.signal(SIGKILL);
  const auto until = std::chrono::steady_clock::now() + Seconds(5);
  // An orphan that nobody reaps stays as a zombie: it holds nothing any more.
  const auto gone = [&] {
    const std::string stat = read_text("/proc/" + std::to_string(children[0]) + "/stat");
    const auto end = stat.rfind(')');
    return end == std::string::npos || stat.compare(end, 4, ") Z ") == 0;
  };
  while (!gone() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(Milliseconds(10));
  }
  EXPECT_TRUE(gone());
}

}  // namespace
}  // namespace stoker::test
