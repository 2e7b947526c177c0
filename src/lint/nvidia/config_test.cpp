#include "lint/nvidia/config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "catalog/products/product.h"
#include "lint/nvidia/mig_board.h"

namespace stoker::lint {
namespace {

using Said = std::vector<std::string>;

// "line:column rule" of each.
Said said(std::string_view text) {
  Said out;
  const auto root = yaml::parse(text, "f");
  if (!root) return {root.error().message()};
  for (const auto& finding : lint_nvidia_config(*root, "f")) {
    out.push_back(std::to_string(finding.location->line) + ":" +
                  std::to_string(finding.location->column) + " " + finding.rule);
  }
  return out;
}

std::string first_message(std::string_view text) {
  const auto root = yaml::parse(text, "f");
  const auto findings = lint_nvidia_config(*root, "f");
  return findings.empty() ? "" : findings.front().message;
}

TEST(DevicePluginConfig, ThatTheReadmeShowsIsLeftAlone) {
  EXPECT_EQ(said(R"(version: v1
flags:
  migStrategy: "none"
  failOnInitError: true
  nvidiaDriverRoot: "/"
  plugin:
    passDeviceSpecs: false
    deviceListStrategy: [envvar, cdi-cri]
    deviceIDStrategy: uuid
  gfd: {oneshot: false, sleepInterval: 60s}
resources:
  gpus:
    - {pattern: "*", name: nvidia.com/gpu}
sharing:
  timeSlicing:
    renameByDefault: true
    failRequestsGreaterThanOne: true
    resources:
      - name: nvidia.com/gpu
        replicas: 4
)"),
            Said{});
  EXPECT_EQ(said("version: v1\nsharing:\n  mps:\n    resources:\n    - {name: nvidia.com/gpu, "
                 "replicas: 10}\n"),
            Said{});
}

TEST(DevicePluginConfig, AKeyAtTheWrongPlaceIsToldWhereItBelongs) {
  constexpr auto text = R"(version: v1
flags:
  migStrategy: none
  renameByDefault: true
sharing:
  timeSlicing:
    resource:
      - name: nvidia.com/gpu
        replicas: 4
)";
  EXPECT_EQ(said(text),
            (Said{"4:3 device-plugin-key", "7:5 device-plugin-key", "7:5 device-plugin-sharing"}));
  EXPECT_NE(first_message(text).find("sharing.timeSlicing.renameByDefault"), std::string::npos)
      << first_message(text);
}

TEST(DevicePluginConfig, WhatThePluginRefusesIsAnError) {
  EXPECT_EQ(said(R"(version: v2
flags:
  migStrategy: both
  failOnInitError: "true"
sharing:
  timeSlicing:
    resources:
      - name: nvidia.com/gpu
        replicas: 1
      - replicas: 3
      - name: nvidia.com/gpu
)"),
            (Said{"1:10 device-plugin-version", "3:16 device-plugin-value",
                  "4:20 device-plugin-value", "9:19 device-plugin-sharing",
                  "10:9 device-plugin-sharing", "11:9 device-plugin-sharing"}));
}

TEST(DevicePluginConfig, WhatIsFilledInLaterIsNotJudged) {
  EXPECT_EQ(said("version: v1\nflags: {migStrategy: \"${strategy}\"}\nsharing:\n  timeSlicing:\n"
                 "    resources:\n    - name: nvidia.com/gpu\n      replicas: ${replicas:=4}\n"),
            Said{});
}

TEST(DevicePluginConfig, WhatThePluginSetsBackIsNamed) {
  EXPECT_EQ(said(R"(version: v1
resources:
  gpus:
  - {pattern: "A100*", name: a100}
sharing:
  timeSlicing:
    resources:
    - name: nvidia.com/gpu
      rename: nvidia.com/gpu.mine
      devices: [0]
      replicas: 2
)"),
            (Said{"4:30 device-plugin-ignored", "9:15 device-plugin-ignored",
                  "10:17 device-plugin-ignored"}));
}

TEST(DevicePluginConfig, MpsGoesNeitherWithMigNorWithTimeSlicing) {
  EXPECT_EQ(said(R"(version: v1
flags: {migStrategy: mixed}
sharing:
  timeSlicing:
    resources: [{name: nvidia.com/gpu, replicas: 2}]
  mps:
    resources: [{name: nvidia.com/mig-1g.10gb, replicas: 2}]
)"),
            (Said{"2:22 device-plugin-mps-mig", "5:5 device-plugin-mps-hides",
                  "7:24 device-plugin-mps-mig"}));
}

TEST(MigPartedConfig, ThatFitsIsLeftAlone) {
  EXPECT_EQ(said(R"(version: v1
mig-configs:
  all-disabled:
    - {devices: all, mig-enabled: false}
  all-enabled:
    - {devices: all, mig-enabled: true, mig-devices: {}}
  balanced:
    - device-filter: ["0x233010DE", "0x20B210DE"]
      devices: all
      mig-enabled: true
      mig-devices: {1g.10gb: 2, 2g.20gb: 1, 3g.40gb: 1}
    - device-filter: "0x20B710DE"
      devices: [0, 1]
      mig-enabled: true
      mig-devices: {"1g.6gb": 2, "2g.12gb": 1}
    - device-filter: "0x2BB510DE"
      devices: all
      mig-enabled: true
      mig-devices: {"1g.24gb+gfx": 4}
  next-year:
    - {devices: all, mig-enabled: true, mig-devices: {1g.50gb: 9}}
)"),
            Said{});
}

TEST(MigPartedConfig, WhatMigPartedRefusesIsAnError) {
  EXPECT_EQ(said(R"(version: v2
mig-config: {}
mig-configs:
  one:
    - devices: some
      mig-enabled: "true"
      mig-device: {}
    - mig-enabled: true
  two: []
  three:
    - {devices: ["0"], mig-enabled: false, mig-devices: {1g.10gb: 0}}
    - {devices: [0], mig-enabled: true, mig-devices: {MIG 1g.10gb: 1, 1g.11gb: 1}}
)"),
            (Said{"1:10 mig-parted-version", "2:1 mig-parted-key", "5:16 mig-parted-value",
                  "6:20 mig-parted-value", "7:7 mig-parted-key", "8:7 mig-parted-required",
                  "8:20 mig-parted-required", "9:3 mig-parted-required", "11:18 mig-parted-value",
                  "11:58 mig-parted-value", "11:67 mig-parted-value", "12:55 mig-profile-name",
                  "12:71 mig-profile-unknown"}));
}

std::string of_devices(const std::string& devices, const std::string& filter = "") {
  const auto found =
      said("version: v1\nmig-configs:\n  x:\n    - {devices: all, mig-enabled: true, " +
           (filter.empty() ? "" : "device-filter: '" + filter + "', ") + "mig-devices: {" +
           devices + "}}\n");
  return found.empty() ? "" : found.front().substr(found.front().find(' ') + 1);
}

TEST(MigPartedConfig, InstancesHaveToFitOnOneGpu) {
  EXPECT_EQ(of_devices("3g.40gb: 2"), "");
  EXPECT_EQ(of_devices("3g.40gb: 2, 1g.10gb: 1"), "mig-does-not-fit")
      << "seven slices, but no memory";
  EXPECT_EQ(of_devices("3g.40gb: 3"), "mig-does-not-fit");
  EXPECT_EQ(of_devices("1g.10gb: 7"), "") << "A100 80GB and H100";
  EXPECT_EQ(of_devices("1g.10gb: 7", "0x20B010DE"), "mig-does-not-fit") << "an A100 40GB takes 4";
  EXPECT_EQ(of_devices("1g.10gb: 4", "0x20B010DE"), "");
  EXPECT_EQ(of_devices("1g.5gb: 1, 1g.18gb: 1"), "mig-does-not-fit") << "no board has both";
  EXPECT_EQ(of_devices("1g.10gb: 9", "0x999910DE"), "") << "a board that we don't know";
  EXPECT_EQ(of_devices("1g.10gb: 1", "233010DE"), "mig-parted-filter");
  EXPECT_EQ(of_devices("1c.3g.40gb: 6"), "") << "compute instances are not judged";
}

TEST(MigPartedConfig, AnEntryForAllGpusUndoesWhatStandsBeforeIt) {
  EXPECT_EQ(said(R"(version: v1
mig-configs:
  x:
    - {devices: [0], mig-enabled: true, mig-devices: {1g.10gb: 7}}
    - {devices: all, mig-enabled: false}
)"),
            (Said{"4:8 mig-parted-overridden"}));
}

TEST(NvidiaConfig, InAConfigMapIsFoundByItsTextAndToldByItsLine) {
  constexpr auto map = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: plugin}
data:
  any: |
    version: v1
    sharing:
      timeSlicing:
        resources:
          - name: nvidia.com/gpu
            replicas: 1
  note: "not: yaml: at all"
)";
  EXPECT_EQ(said(map), (Said{"11:0 device-plugin-sharing"}));
  EXPECT_EQ(said("kind: ConfigMap\ndata: {a: b}\n"), Said{});
  EXPECT_EQ(said("kind: Pod\nsharing: {mps: {}}\n"), Said{});
}

// The products of the catalogue come from cards and documents of their own: both tables have to say the same.
TEST(MigBoards, AgreeWithTheProductsOfTheCatalogue) {
  int compared = 0;
  for (const auto& id : catalog::product_ids()) {
    const auto product = catalog::load_product(id);
    ASSERT_TRUE(product) << id;
    if (!product->mig) continue;
    std::map<std::string, int> counts;
    for (const auto& profile : product->mig->profiles) {
      const auto name = MigName::parse(profile.name);
      ASSERT_TRUE(name) << profile.name;
      if (name->attributes.empty()) counts[profile.name] = static_cast<int>(profile.instances);
    }
    const bool found = std::ranges::any_of(mig_boards(), [&](const MigBoard& board) {
      return std::ranges::all_of(counts, [&](const auto& entry) {
        const auto index = board.index_of(entry.first);
        return index && board.most(*index) == entry.second;
      });
    });
    EXPECT_TRUE(found) << id;
    ++compared;
  }
  EXPECT_GE(compared, 5);
}

TEST(NvidiaConfig, EveryRuleHasATestAndASource) {
  std::ifstream file(STOKER_SOURCE_DIR "/src/lint/nvidia/config_test.cpp");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const auto& rule : nvidia_rules()) {
    EXPECT_NE(text.find(std::string(rule.id) + '"'), std::string::npos) << rule.id;
    EXPECT_TRUE(rule.source.starts_with("https://")) << rule.id;
  }
}

}  // namespace
}  // namespace stoker::lint
