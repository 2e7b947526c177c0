// A fault of a simulated node becomes one incident, which outlives the agent; told by the built program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/host_port.h"
#include "net/http_server.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class IncidentsEndToEnd : public ::testing::Test {
 protected:
  std::vector<std::string> up() {
    return {"up", "--sim", "hgx-h100", "--data", data_, "--listen", "127.0.0.1:0"};
  }
  // Asks until something is told, or is over.
  static Outcome incidents(const std::string& url, int status) {
    Outcome shown;
    const auto until = system_clock().monotonic() + Seconds(30 * slowdown);
    do {
      shown = run_stoker({"incidents", "--agent", url});
    } while (shown.status != status && system_clock().monotonic() < until);
    return shown;
  }

  // Does it come to print this?
  static bool says(const StokerProcess& process, const std::string& text) {
    const auto until = system_clock().monotonic() + Seconds(30 * slowdown);
    while (process.out().find(text) == std::string::npos) {
      if (system_clock().monotonic() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }
  // One that nobody listens on now.
  static std::uint16_t free_port() {
    const auto server = net::HttpServer::bind({.listen = "127.0.0.1:0"});
    if (!server) return 0;
    return parse_host_port((*server)->address()).value_or(HostPort{}).port;
  }

  const TempFolder folder_;
  const std::string data_ = folder_.path("data");
};

TEST_F(IncidentsEndToEnd, AGpuThatFallsOffTheBusIsOneAndIsStillThereAfterARestart) {
  {
    StokerProcess agent(up());
    const auto url = agent.wait_ready();
    ASSERT_NE(url, "") << agent.err();
    EXPECT_EQ(run_stoker({"incidents", "--agent", url}).out, "There is no incident.\n");
    ASSERT_EQ(run_stoker({"sim", "inject", "--data", data_, "xid", "79", "--gpu", "3"}).status, 0);
    const auto shown = incidents(url, 1);
    EXPECT_THAT(shown.out, HasSubstr("critical  gpu-off-bus  open"));
    EXPECT_THAT(shown.out, HasSubstr("GPU 3 (0000:61:00.0): Xid 79, GPU has fallen off the bus"));
    EXPECT_THAT(shown.out, HasSubstr("what to do: reboot"));
    EXPECT_THAT(shown.out, Not(HasSubstr("\n2  ")));
  }
  StokerProcess agent(up());
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  EXPECT_THAT(run_stoker({"incidents", "--all", "--agent", url}).out, HasSubstr("gpu-off-bus"));
  const auto one = run_stoker({"incident", "1", "--agent", url});
  EXPECT_THAT(one.out, HasSubstr("NVRM: Xid (PCI:0000:61:00): 79"));
  EXPECT_THAT(one.out, HasSubstr("stoker: opened"));
  const auto bundle = folder_.path("rma.tar.zst");
  const auto packed = run_stoker({"incident", "1", "--bundle", bundle, "--agent", url});
  EXPECT_EQ(packed.status, 0) << packed.err;
  EXPECT_THAT(packed.out, HasSubstr("11 files"));
  const auto again = run_stoker({"incident", "1", "--bundle", bundle, "--agent", url});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("File exists"));
  const auto lines = run_stoker({"incidents", "--all", "--agent", url, "-o", "jsonl"});
  EXPECT_THAT(lines.out, HasSubstr(R"("id":1,)"));
  EXPECT_THAT(lines.out, HasSubstr(R"("pci":"0000:61:00.0")"));
}

TEST_F(IncidentsEndToEnd, PeopleChangeThemThroughTheSocketOfTheDataFolder) {
  StokerProcess agent(up());
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  ASSERT_EQ(run_stoker({"sim", "inject", "--data", data_, "xid", "94", "--gpu", "1"}).status, 0);
  ASSERT_EQ(incidents(url, 1).status, 1);
  const auto seen =
      run_stoker({"incident", "1", "--acknowledge", "--note", "I look", "--data", data_});
  EXPECT_EQ(seen.status, 0) << seen.err;
  EXPECT_THAT(seen.out, HasSubstr("memory-contained  acknowledged"));
  EXPECT_THAT(run_stoker({"incident", "1", "--agent", url}).out, HasSubstr("acknowledged: I look"));
  const auto hushed = run_stoker({"incident", "1", "--suppress", "2h", "--data", data_});
  EXPECT_THAT(hushed.out, HasSubstr("memory-contained  suppressed"));
  const auto two = run_stoker({"incident", "1", "--resolve", "--reopen", "--data", data_});
  EXPECT_EQ(two.status, 2);
  EXPECT_THAT(two.err, HasSubstr("one change at a time"));
  const auto elsewhere =
      run_stoker({"incident", "1", "--acknowledge", "--data", folder_.path("none")});
  EXPECT_EQ(elsewhere.status, 2);
  EXPECT_THAT(elsewhere.err, HasSubstr("no agent answers at"));
  EXPECT_EQ(run_stoker({"incident", "9", "--acknowledge", "--data", data_}).status, 2);
}

TEST_F(IncidentsEndToEnd, TheirChangesAreFollowedThroughARestartOfTheAgent) {
  const std::string listen = "127.0.0.1:" + std::to_string(free_port());
  const std::vector<std::string> same_address = {"up",  "--sim",    "hgx-h100", "--data",
                                                 data_, "--listen", listen};
  auto agent = std::make_unique<StokerProcess>(same_address);
  const auto url = agent->wait_ready();
  ASSERT_NE(url, "") << agent->err();
  StokerProcess lines({"incidents", "--follow", "--agent", url});
  StokerProcess objects({"incidents", "--follow", "-o", "json", "--agent", url});
  ASSERT_EQ(run_stoker({"sim", "inject", "--data", data_, "xid", "94", "--gpu", "1"}).status, 0);
  EXPECT_TRUE(says(lines, "1  20")) << lines.err();
  EXPECT_TRUE(says(lines, "error  memory-contained  open  ")) << lines.out();
  EXPECT_TRUE(says(objects, R"("id":1,)")) << objects.out();
  ASSERT_EQ(run_stoker({"incident", "1", "--acknowledge", "--data", data_}).status, 0);
  EXPECT_TRUE(says(lines, "memory-contained  acknowledged  ")) << lines.out();
  agent->signal(SIGTERM);
  EXPECT_EQ(agent->wait(), 0) << "who listens keeps it from ending";
  agent = std::make_unique<StokerProcess>(same_address);
  ASSERT_NE(agent->wait_ready(), "") << agent->err();
  ASSERT_EQ(run_stoker({"incident", "1", "--mitigate", "--data", data_}).status, 0);
  EXPECT_TRUE(says(lines, "memory-contained  mitigating  ")) << lines.out() << lines.err();
  EXPECT_TRUE(says(objects, R"("state":"mitigating")")) << objects.out();
  EXPECT_THAT(lines.err(), HasSubstr("is asked again until it answers"));
  const auto yaml = run_stoker({"incidents", "--follow", "-o", "yaml", "--agent", url});
  EXPECT_EQ(yaml.status, 2);
  EXPECT_THAT(yaml.err, HasSubstr("-o table, json or jsonl"));
  agent->signal(SIGKILL);
  agent->wait();
  const auto nobody = run_stoker({"incidents", "--follow", "--agent", url});
  EXPECT_EQ(nobody.status, 2) << "nobody was there at all";
}

TEST_F(IncidentsEndToEnd, AnIncidentThatIsNotThereIsSaid) {
  StokerProcess agent(up());
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  const auto none = run_stoker({"incident", "7", "--agent", url});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("there is no incident \"7\""));
  const auto word = run_stoker({"incident", "x", "--agent", url});
  EXPECT_EQ(word.status, 2);
  EXPECT_THAT(word.err, HasSubstr("'x' is no number of an incident"));
}

}  // namespace
}  // namespace stoker::test
