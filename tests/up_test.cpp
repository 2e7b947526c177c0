// stoker up, end to end: the built program on a simulated node, asked as people and programs ask it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "catalog/field.h"
#include "export/rdma.h"
#include "model/wrap.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "support/asking.h"
#include "support/golden.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

bool somebody_answers(const std::string& url) {
  return net::http_get(url + "/healthz").has_value();
}

// Asks again until the answer holds no "..." (a reading that has not come yet).
Outcome ask_until_read(const std::vector<std::string>& arguments) {
  Outcome outcome;
  const auto deadline = steady_clock::now() + seconds(20);
  do {
    outcome = run_stoker(arguments);
  } while (outcome.out.find("...") != std::string::npos && steady_clock::now() < deadline);
  return outcome;
}

// The pid of the probe that the agent at `url` has.
pid_t probe_of(const std::string& url) {
  const auto status = get(url + "/api/v1/status");
  const auto at = status.find("\"probe_pid\":");
  return at == std::string::npos ? 0 : std::atoi(status.c_str() + at + 12);
}

class Up : public ::testing::Test {
 protected:
  std::vector<std::string> up(std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {
        "up", "--sim", "hgx-h100", "--data", folder_.path("data"), "--listen", "127.0.0.1:0"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  TempFolder folder_;
};

TEST_F(Up, TellsOwnersWhereTheConfigSaysAndTakesAChangeOver) {
  const auto config = folder_.write("stoker.yaml", "metrics: {owners: info}\n");
  StokerProcess agent(up({"--config", config}));
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  const auto info = get_until(url + "/metrics", "stoker_gpu_owner_info{gpu=\"0\"");
  EXPECT_NE(info.find("hpc_job=\"4711\",hpc_job_name=\"pretrain\"} 1"), std::string::npos);
  EXPECT_EQ(info.find("hpc_job=\"4711\"} "), std::string::npos) << "a DCGM series has it";
  folder_.write("stoker.yaml", "metrics: {owners: inline}\n");
  agent.signal(SIGHUP);
  const auto labels = get_until(url + "/metrics", "hpc_job=\"4711\"} ");
  EXPECT_NE(labels.find("DCGM_FI_DEV_GPU_TEMP{gpu=\"0\""), std::string::npos);
  EXPECT_NE(labels.find("hpc_job=\"4711\"} "), std::string::npos);
}

TEST_F(Up, ServesASimulatedNodeAndSaysThatItIsOne) {
  StokerProcess agent(up());
  const auto url = agent.wait_ready();
  ASSERT_EQ(url.rfind("http://127.0.0.1:", 0), 0U) << agent.out() << agent.err();
  EXPECT_NE(agent.err().find("These cards are SIMULATED (hgx-h100)"), std::string::npos);
  EXPECT_EQ(get(url + "/healthz"), "ok\n");
  EXPECT_EQ(get(url + "/readyz"), "ok\n");
  const auto metrics = get_until(url + "/metrics", "DCGM_FI_DEV_POWER_USAGE{gpu=\"7\"");
  EXPECT_NE(metrics.find("stoker_simulated 1\n"), std::string::npos);
  EXPECT_NE(metrics.find("\nDCGM_FI_DEV_POWER_USAGE{gpu=\"7\""), std::string::npos);
  EXPECT_NE(get(url + "/api/v1/status").find(R"("simulated":true,"simulated_profile":"hgx-h100")"),
            std::string::npos);

  const auto status = ask_until_read({"status", "--agent", url});
  EXPECT_EQ(status.status, 0) << status.out << status.err;
  expect_golden("cli/status.txt",
                masked(replaced(status.out, "node      " + hostname() + ",", "node      HOST,")));
  for (const char* gpu : {"0", "1", "2", "3", "6"}) {  // those with a Slurm job
    get_until(url + "/metrics", "stoker_gpu_owner_info{gpu=\"" + std::string(gpu));
  }
  EXPECT_NE(get(url + "/metrics").find("hpc_job=\"4711\"} "), std::string::npos);
  const auto gpus = run_stoker({"gpus", "--agent", url});
  EXPECT_EQ(gpus.status, 0) << gpus.err;
  expect_golden("cli/gpus.txt", masked(gpus.out));
  const auto fields = run_stoker({"fields", "--agent", url});
  EXPECT_EQ(fields.status, 0) << fields.err;
  EXPECT_EQ(fields.out.rfind("FIELD ", 0), 0U);
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(fields.out, '\n')),
            field_count + exporting::rdma_series().size() + 5)
      << "two titles, what is kept of them, and two blank lines";
  for (const Field& field : all_fields()) {
    EXPECT_NE(fields.out.find("\n" + std::string(field.name) + " "), std::string::npos)
        << field.name;
  }
}

TEST_F(Up, PrintsTheSameDocumentInEveryFormat) {
  StokerProcess agent(up());
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  const auto json = run_stoker({"gpus", "--agent", url, "-o", "json"});
  EXPECT_EQ(json.out.rfind("{\n  \"schema\": \"stoker.dev/v1/gpu\",", 0), 0U)
      << json.out.substr(0, 200);
  const auto yaml = run_stoker({"gpus", "--agent", url, "-o", "yaml"});
  EXPECT_EQ(yaml.out.rfind("schema: stoker.dev/v1/gpu\n", 0), 0U) << yaml.out.substr(0, 200);
  const auto lines = run_stoker({"gpus", "--agent", url, "-o", "jsonl"});
  EXPECT_EQ(std::ranges::count(lines.out, '\n'), 8);
  StokerProcess watch({"gpus", "--agent", url, "--watch", "--interval", "200ms", "-o", "jsonl"});
  const auto deadline = steady_clock::now() + seconds(10);
  while (std::ranges::count(watch.out(), '\n') < 24 && steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_GE(std::ranges::count(watch.out(), '\n'), 24);
  EXPECT_EQ(watch.out().rfind(R"({"time":"20)", 0), 0U);
}

TEST_F(Up, EndsWithinTwoSecondsOfASignalAndLeavesNoProcess) {
  for (const int number : {SIGINT, SIGTERM}) {
    StokerProcess agent(up());
    const auto url = agent.wait_ready();
    ASSERT_NE(url, "") << agent.err();
    const pid_t probe = probe_of(url);
    EXPECT_GT(probe, 0);
    agent.signal(number);
    EXPECT_EQ(agent.wait(slowdown * milliseconds(2000)), 0) << agent.err();
    EXPECT_FALSE(somebody_answers(url));
    EXPECT_NE(::kill(probe, 0), 0) << "the probe is still there";
  }
}

TEST_F(Up, RefusesADataFolderThatAnotherAgentUses) {
  StokerProcess first(up());
  ASSERT_NE(first.wait_ready(), "") << first.err();
  const auto second = run_stoker(up());
  EXPECT_EQ(second.status, 2);
  EXPECT_EQ(second.out, "");
  EXPECT_EQ(second.err, "stoker: another agent (pid " + std::to_string(first.pid()) +
                            ") uses the data folder " + folder_.path("data") +
                            "; stop it, or choose another folder with --data DIR\n");
  // Once the first is gone, however it went, the folder is free.
  first.signal(SIGKILL);
  first.wait();
  StokerProcess third(up());
  EXPECT_NE(third.wait_ready(), "") << third.err();
}

TEST_F(Up, RefusesAnAddressInUseAndTouchesNothing) {
  StokerProcess first(up());
  const auto url = first.wait_ready();
  ASSERT_NE(url, "") << first.err();
  const auto second = run_stoker(
      {"up", "--sim", "hgx-h100", "--data", folder_.path("other"), "--listen", url.substr(7)});
  EXPECT_EQ(second.status, 2);
  EXPECT_EQ(second.err,
            "stoker: " + url.substr(7) +
                " is already in use: another stoker or exporter listens there; stop it or "
                "choose another address with --listen HOST:PORT\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("other")));
}

TEST_F(Up, SaysWhatToDoWhereThereIsNoDriver) {
  const auto config =
      folder_.write("stoker.yaml", "probe: {library: /nonexistent/libnvidia-ml.so.1}\n");
  const auto outcome = run_stoker(
      {"up", "--config", config, "--data", folder_.path("data"), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("stoker: there is no NVIDIA driver on this machine"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("stoker up --sim hgx-h100"), std::string::npos);
  EXPECT_NE(outcome.err.find("stoker up --wait-driver"), std::string::npos);
}

TEST_F(Up, WatchesForADriverWhereAsked) {
  const auto config =
      folder_.write("stoker.yaml", "probe: {library: /nonexistent/libnvidia-ml.so.1}\n");
  StokerProcess agent({"up", "--config", config, "--data", folder_.path("data"), "--listen",
                       "127.0.0.1:0", "--wait-driver"});
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  const auto ready = net::http_get(url + "/readyz");
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->status, 503);
  EXPECT_EQ(ready->body.rfind("library_missing: ", 0), 0U) << ready->body;
  const auto status = run_stoker({"status", "--agent", url});
  EXPECT_EQ(status.status, 1);
  EXPECT_EQ(status.out.rfind("UNKNOWN ", 0), 0U) << status.out;
  EXPECT_NE(status.out.find("driver-library-missing"), std::string::npos);
}

TEST_F(Up, TakesOverLiveOptionsOnHangup) {
  const auto config = folder_.write("stoker.yaml", "metrics: {host_label: Hostname}\n");
  StokerProcess agent(up({"--config", config}));
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  EXPECT_NE(get_until(url + "/metrics", ",Hostname=\"").find(",Hostname=\""), std::string::npos);
  folder_.write("stoker.yaml", "metrics: {host_label: hostname}\nroot: /elsewhere\n");
  agent.signal(SIGHUP);
  EXPECT_NE(get_until(url + "/metrics", ",hostname=\"").find(",hostname=\""), std::string::npos);
  EXPECT_NE(agent.err().find("config_needs_restart option=root"), std::string::npos) << agent.err();
  folder_.write("stoker.yaml", "metrics: {host_label: wrong}\n");
  agent.signal(SIGHUP);
  const auto deadline = steady_clock::now() + seconds(20);
  while (agent.err().find("config_not_reloaded") == std::string::npos &&
         steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_NE(agent.err().find("config_not_reloaded"), std::string::npos);
  EXPECT_TRUE(somebody_answers(url));
}

TEST_F(Up, StartsNothingHalfWhenAnythingIsWrong) {
  const auto config = folder_.write("wrong.yaml", "listen: ':1'\nprobe:\n  hung_afer: 10s\n");
  const std::string data = folder_.path("data");
  const std::vector<std::vector<std::string>> wrong = {
      {"--config", config},    {"--config", folder_.path("missing.yaml")},
      {"--sim", "hgx-h10"},    {"--listen", "nowhere"},
      {"--log-level", "loud"}, {"--lissten", "127.0.0.1:0"},
  };
  std::string all;
  for (const auto& arguments : wrong) {
    std::vector<std::string> command = {"up", "--data", data};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const auto outcome = run_stoker(command);
    EXPECT_EQ(outcome.status, 2) << arguments.at(0);
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(std::filesystem::exists(data)) << arguments.at(0);
    all += "$ stoker up " + arguments.at(0) + " " + arguments.at(1) + "\n" + outcome.err + "\n";
  }
  expect_golden("cli/up_errors.txt", replaced(all, folder_.path(), "FOLDER/"));
}

TEST(CommandLine, SaysWhatIsWrongWithItsUse) {
  std::string all;
  const std::vector<std::vector<std::string>> wrong = {{"statsu"},
                                                       {"status", "-o", "xml"},
                                                       {"gpus", "--watch", "--interval", "2"},
                                                       {"gpus", "--watch", "-o", "yaml"},
                                                       {"config", "chek"},
                                                       {"config", "check"},
                                                       {"fields", "--agent"}};
  for (const auto& arguments : wrong) {
    const auto outcome = run_stoker(arguments);
    EXPECT_EQ(outcome.status, 2);
    all += "$ stoker";
    for (const auto& argument : arguments) all += " " + argument;
    all += "\n" + outcome.out + outcome.err + "\n";
  }
  expect_golden("cli/usage_errors.txt", all);
}

TEST(CommandLine, ShowsTheVerbsWhereOneIsMissing) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{}, {"config"}}) {
    const auto outcome = run_stoker(arguments);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find("\nSubcommands:\n"), std::string::npos) << outcome.err;
  }
}

// The names below "Subcommands:".
std::vector<std::string> verbs_in(const std::string& help) {
  std::vector<std::string> verbs;
  std::istringstream lines(help);
  bool below = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Subcommands:") below = true;
    if (below && line.empty()) break;
    if (!below || !line.starts_with("  ") || line[2] == ' ') continue;
    verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return verbs;
}

// Of a command and everything below it.
void expect_good_help(const std::vector<std::string>& verb) {
  auto command = verb;
  command.emplace_back("--help");
  const auto help = run_stoker(command);
  EXPECT_EQ(help.status, 0);
  const bool has_examples = help.out.find("Examples:") != std::string::npos ||
                            help.out.find(" e.g. stoker ") != std::string::npos;
  EXPECT_TRUE(has_examples) << help.out;
  EXPECT_NE(help.out.find("Exit codes: 0 "), std::string::npos) << help.out;
  std::istringstream lines(help.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), 80U) << line;
  for (const std::string& name : verbs_in(help.out)) {
    auto below = verb;
    below.push_back(name);
    expect_good_help(below);
  }
}

TEST(CommandLine, EveryHelpTellsTheExitCodesAndGivesExamples) {
  EXPECT_EQ(run_stoker({"--version"}).out.rfind("stoker ", 0), 0U);
  EXPECT_EQ(run_stoker({"version"}).out, run_stoker({"--version"}).out);
  expect_good_help({});
}

TEST(CommandLine, RefusesOptionsThatWouldDoNothing) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"gpus", "--interval", "5s"},
        {"topo", "-m", "-o", "json"},
        {"sim", "show", "--data", "/nonexistent", "--environment", "-o", "json"},
        {"expect", "--write", "-", "-o", "json"},
        {"up", "--speed", "2"},
        {"up", "--sim", ""},
        {"sim", "node", "hgx-h100", "--data", ""},
        {"config", "check", ""}}) {
    const auto outcome = run_stoker(words);
    EXPECT_EQ(outcome.status, 2) << words[0];
    EXPECT_TRUE(outcome.err.starts_with("stoker: ")) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(CommandLine, SaysThatNoAgentRuns) {
  for (const char* verb : {"status", "gpus"}) {
    const auto outcome = run_stoker({verb, "--agent", "http://127.0.0.1:1"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(
        outcome.err,
        "stoker: no agent answers at http://127.0.0.1:1: start one with `stoker up`, or name its "
        "address with --agent URL\n");
  }
  const auto fields = run_stoker({"fields"}, {"STOKER_LISTEN=127.0.0.1:1"});
  EXPECT_EQ(fields.status, 0) << fields.err;
  EXPECT_EQ(fields.err, "no agent runs here, so no costs have been measured\n");
  EXPECT_NE(fields.out.find("utilization_rates"), std::string::npos);
  EXPECT_EQ(run_stoker({"fields", "--agent", "http://127.0.0.1:1"}).status, 2);
}

TEST(CommandLine, DoesNotTakeAnAgentInTroubleForNone) {
  const auto server = net::HttpServer::bind({.listen = "127.0.0.1:0"});
  ASSERT_TRUE(server);
  (*server)->serve(
      [](const net::Request&) { return net::Response{.status = 500, .body = "out of order\n"}; });
  const auto fields = run_stoker({"fields"}, {"STOKER_LISTEN=" + (*server)->address()});
  EXPECT_EQ(fields.status, 2);
  EXPECT_EQ(fields.out, "");
  EXPECT_EQ(
      fields.err.rfind("stoker: http://" + (*server)->address() + "/api/v1/fields answered 500", 0),
      0U)
      << fields.err;
}

TEST(ConfigVerb, ChecksAFile) {
  const TempFolder folder;
  const auto good = folder.write("good.yaml", "listen: ':9400'\nsim: {profile: hgx-h100}\n");
  const auto outcome = run_stoker({"config", "check", good}, {"STOKER_LISTEN=nonsense"});
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_EQ(outcome.out, good + ": nothing wrong\n");
  const auto bad = folder.write("bad.yaml", "sim: {profile: hgx-h10}\n");
  const auto wrong = run_stoker({"config", "check", bad});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(replaced(wrong.out, folder.path(), ""),
            "error     config-wrong-value  bad.yaml:1:7\n"
            "  what    there is no simulated profile \"hgx-h10\"\n"
            "  do      fix_config: did you mean 'hgx-h100'?\n");
  const auto sarif = run_stoker({"config", "check", bad, "-o", "sarif"});
  EXPECT_NE(sarif.out.find(R"("ruleId":"config-wrong-value")"), std::string::npos);
  EXPECT_NE(sarif.out.find(R"("region":{"startLine":1,"startColumn":7})"), std::string::npos)
      << sarif.out;
}

TEST(ConfigVerb, ShowsWhatIsInForceAndWhereItComesFrom) {
  const TempFolder folder;
  const auto file = folder.write("stoker.yaml", "sample:\n  scale: 2\n");
  const auto shown = run_stoker({"config", "show", "--config", file, "--listen", ":1"},
                                {"STOKER_PROBE_HUNG_AFTER=5s"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  expect_golden("cli/config_show.txt", replaced(shown.out, folder.path(), ""));
  const auto json = run_stoker({"config", "show", "-o", "json"});
  EXPECT_EQ(json.out.rfind("{\n  \"schema\": \"stoker.dev/v1/option\",", 0), 0U);
}

}  // namespace
}  // namespace stoker::test
