#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "config/settings.h"
#include "model/render.h"

namespace stoker::config {
namespace {

// Resolves with `text` as the file "stoker.yaml" of a folder of its own.
class Config : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = ::testing::TempDir() + "stoker-config-XXXXXX";
    folder_ = ::mkdtemp(folder.data());
  }
  void TearDown() override {
    std::filesystem::current_path("/");
    std::filesystem::remove_all(folder_);
  }

  Resolved from(const std::string& text, Inputs inputs = {}) {
    std::filesystem::current_path(folder_);
    std::ofstream("stoker.yaml") << text;
    inputs.file = "stoker.yaml";
    return resolve(inputs);
  }
  std::string mistakes(const std::string& text) {
    const auto resolved = from(text);
    EXPECT_FALSE(resolved.settings) << text;
    return render_table(resolved.findings);
  }

  std::filesystem::path folder_;
};

TEST(OptionTable, EveryRowHasAGoodDefaultAndNamesOfItsOwn) {
  std::set<std::string> keys;
  std::set<std::string> flags;
  for (const Option& row : all_options()) {
    EXPECT_TRUE(parse_value(row, row.fallback)) << row.key;
    EXPECT_TRUE(keys.emplace(row.key).second) << row.key;
    EXPECT_TRUE(row.flag.empty() || flags.emplace(row.flag).second) << row.flag;
    EXPECT_FALSE(row.help.empty()) << row.key;
    EXPECT_EQ(row.environment().rfind("STOKER_", 0), 0U);
  }
  EXPECT_EQ(option(OptionId::probe_hung_after).environment(), "STOKER_PROBE_HUNG_AFTER");
}

TEST_F(Config, AFlagBeatsTheEnvironmentWhichBeatsTheFileWhichBeatsTheDefault) {
  const std::string file = "listen: ':1'\nroot: /file\nlog: {level: debug}\n";
  const auto resolved =
      from(file, {.environment = {{"STOKER_LISTEN", ":2"}, {"STOKER_ROOT", "/env"}},
                  .flags = {{OptionId::listen, ":3"}}});
  ASSERT_TRUE(resolved.settings) << render_table(resolved.findings);
  const Settings& settings = *resolved.settings;
  EXPECT_EQ(settings.text(OptionId::listen), ":3");
  EXPECT_EQ(settings.origin(OptionId::listen).text(), "--listen");
  EXPECT_EQ(settings.text(OptionId::root), "/env");
  EXPECT_EQ(settings.origin(OptionId::root).text(), "STOKER_ROOT");
  EXPECT_EQ(settings.text(OptionId::log_level), "debug");
  EXPECT_EQ(settings.origin(OptionId::log_level).text(), "stoker.yaml:3:7");
  EXPECT_EQ(settings.duration(OptionId::probe_hung_after), Seconds(10));
  EXPECT_EQ(settings.origin(OptionId::probe_hung_after).kind, OriginKind::fallback);
}

TEST_F(Config, AnEmptyFileMeansAllDefaults) {
  EXPECT_TRUE(from("").settings);
  EXPECT_TRUE(from("# nothing\nprobe:\n").settings);
}

TEST_F(Config, TellsEveryMistakeWithItsPlaceAndWhatWouldBeRight) {
  EXPECT_EQ(mistakes("listen: 9400\n"
                     "sim:\n"
                     "  profle: hgx-h100\n"
                     "probe: {hung_after: 10, term_after: }\n"
                     "sample.scale: 2\n"
                     "metrics:\n"
                     "  host_label: HOSTNAME\n"
                     "  extra_fields: [DCGM_FI_DEV_SM_CLOCK, DCGM_FI_DEV_PSTAT]\n"
                     "sample: [1]\n"
                     "colour: red\n"),
            R"(error     config-wrong-value  stoker.yaml:1:9
  what    listen: "9400" is not HOST:PORT
  do      fix_config: 127.0.0.1:9400, [::1]:9400, or :9400 for all interfaces

error     config-unknown-key  stoker.yaml:3:3
  what    there is no option "sim.profle"
  do      fix_config: did you mean 'sim.profile'?

error     config-wrong-value  stoker.yaml:4:21
  what    probe.hung_after: "10" is not a duration
  do      fix_config: a duration between 10ms and 1h, e.g. 250ms, 10s, 5m

error     config-wrong-value  stoker.yaml:4:25
  what    probe.term_after has no value
  do      fix_config: leave the key out to take its default

error     config-unknown-key  stoker.yaml:5:1
  what    "sample.scale" is written with a dot
  do      fix_config: write each part on a line of its own, the later one
          indented

error     config-wrong-value  stoker.yaml:7:15
  what    metrics.host_label: there is no "HOSTNAME" here
  do      fix_config: one of Hostname, hostname, both, none

error     config-wrong-value  stoker.yaml:8:18
  what    metrics.extra_fields: "DCGM_FI_DEV_PSTAT" is no DCGM field that Stoker
          knows
  do      fix_config: did you mean 'DCGM_FI_DEV_PSTATE'?

error     config-wrong-value  stoker.yaml:9:10
  what    sample has to be a map
  do      fix_config: write its options below it, indented: period_cheap,
          period_dear, period_firmware, period_gpm, period_processes,
          period_rare, period_refresh and scale

error     config-unknown-key  stoker.yaml:10:1
  what    there is no option "colour"
  do      fix_config: there are attribution, checks, data, diag, disks, driver,
          events, expect, history, listen, log, metrics, nccl, notify, probe,
          rdma, record, replay, root, sample and sim
)");
}

TEST_F(Config, RefusesKeysThatStandTwice) {
  EXPECT_EQ(mistakes("listen: ':1'\nroot: /\nlisten: ':2'\n"),
            R"(error     config-syntax  stoker.yaml:3:1
  what    key 'listen' stands twice, first in line 1
  do      fix_config: correct the file at this place
)");
}

TEST_F(Config, TellsWhereTheSyntaxBreaks) {
  EXPECT_EQ(mistakes("listen: ':1'\n  root: [/\n"),
            R"(error     config-syntax  stoker.yaml:2:3
  what    not YAML: invalid indentation in mapping
  do      fix_config: correct the file at this place
)");
}

TEST_F(Config, TellsThatAFileCannotBeRead) {
  const auto resolved = resolve({.file = "/nonexistent/stoker.yaml"});
  EXPECT_FALSE(resolved.settings);
  EXPECT_EQ(render_table(resolved.findings),
            R"(error     config-cannot-read  /nonexistent/stoker.yaml
  what    read /nonexistent/stoker.yaml: No such file or directory
  do      fix_config: name a file that can be read
)");
}

TEST(ConfigSources, WrongFlagsAndVariablesAreToldByTheirNames) {
  const auto resolved = resolve({.environment = {{"STOKER_SAMPLE_SCALE", "0"},
                                                 {"STOKER_LISTN", "x"},
                                                 {"STOKER_SIM_STATE", "y"}},
                                 .flags = {{OptionId::listen, "nowhere"}}});
  EXPECT_FALSE(resolved.settings);
  EXPECT_EQ(render_table(resolved.findings),
            R"(error     config-wrong-value  environment
  what    STOKER_SAMPLE_SCALE: 0 is not between 0.01 and 1000
  do      fix_config: a number between 0.01 and 1000

error     config-wrong-value  command line
  what    --listen: "nowhere" is not HOST:PORT
  do      fix_config: 127.0.0.1:9400, [::1]:9400, or :9400 for all interfaces

warning   config-unknown-variable  environment
  what    the variable STOKER_LISTN is no option
  do      fix_config: did you mean 'STOKER_LISTEN'?
)");
}

TEST(ConfigSources, StepsOfLettingGoHaveToFollowEachOther) {
  const auto resolved = resolve({.environment = {{"STOKER_PROBE_TERM_AFTER", "30s"}}});
  EXPECT_FALSE(resolved.settings);
  EXPECT_EQ(render_table(resolved.findings),
            R"(error     config-conflict  options
  what    probe.term_after (30s) comes before probe.leave_after (45s)
  do      fix_config: 45s or more
  seen    probe.term_after from environment STOKER_PROBE_TERM_AFTER
  seen    probe.leave_after from default
)");
}

TEST(ConfigSources, UsersOtherThanRootKeepTheirDataAtHome) {
  EXPECT_EQ(resolve({}).settings->text(OptionId::data), "/var/lib/stoker");
  EXPECT_EQ(resolve({.environment = {{"HOME", "/home/a"}}, .is_root = false})
                .settings->text(OptionId::data),
            "/home/a/.local/state/stoker");
  EXPECT_EQ(
      resolve({.environment = {{"XDG_STATE_HOME", "/s"}, {"HOME", "/home/a"}}, .is_root = false})
          .settings->text(OptionId::data),
      "/s/stoker");
}

TEST_F(Config, WhatIsShownCanBeReadBack) {
  const auto first = from(
      "metrics: {extra_fields: [DCGM_FI_DEV_PSTATE, DCGM_FI_DEV_FAN_SPEED]}\n"
      "sim: {profile: hgx-h100}\nsample: {period_cheap: 1500ms, scale: 0.5}\n");
  ASSERT_TRUE(first.settings) << render_table(first.findings);
  const auto shown = to_yaml(*first.settings);
  EXPECT_NE(shown.find("  profile: hgx-h100                         # file stoker.yaml:2:7\n"),
            std::string::npos)
      << shown;
  const auto second = from(shown);
  ASSERT_TRUE(second.settings) << render_table(second.findings) << shown;
  for (const Option& row : all_options()) {
    EXPECT_EQ(value_text(second.settings->value(row.id)), value_text(first.settings->value(row.id)))
        << row.key;
  }
}

TEST(ConfigSources, ShowsEveryOptionAsJson) {
  const auto json = to_json(*resolve({.flags = {{OptionId::driver_wait, "true"}}}).settings);
  EXPECT_EQ(
      json.rfind(R"({"schema":"stoker.dev/v1/option","options":[{"key":"listen","type":"address",)"
                 R"("value":"127.0.0.1:9400","from":"default","where":null,)",
                 0),
      0U)
      << json;
  EXPECT_NE(
      json.find(
          R"("key":"driver.wait","type":"boolean","value":true,"from":"flag","where":"--wait-driver")"),
      std::string::npos);
}

TEST(Reload, IsComparedWithWhatIsInForceAndNotWithTheStart) {
  const auto set = [](Settings& settings, OptionId id, const char* text) {
    settings.set(id, *parse_value(option(id), text), {});
  };
  const auto keys = [](const Settings& before, const Settings& after) {
    std::vector<std::string_view> names;
    for (const Option* row : changed(before, after)) names.push_back(row->key);
    return names;
  };
  const Settings start;
  Settings now = start;
  Settings next = start;
  set(next, OptionId::log_level, "debug");
  set(next, OptionId::listen, "127.0.0.1:1");
  EXPECT_EQ(keys(now, next), (std::vector<std::string_view>{"listen", "log.level"}));
  take_live(next, now);
  EXPECT_EQ(keys(now, next), (std::vector<std::string_view>{"listen"})) << "until a restart";
  EXPECT_EQ(keys(now, start), (std::vector<std::string_view>{"log.level"})) << "back again";
}

TEST(Resolve, TakesATextInPlaceOfItsFile) {
  EXPECT_TRUE(resolve({.file = "/nonexistent.yaml", .text = "listen: 127.0.0.1:1\n"}).settings);
  EXPECT_FALSE(resolve({.file = "/nonexistent.yaml", .text = "listn: 1\n"}).settings);
}

}  // namespace
}  // namespace stoker::config
