#include "lint/cluster/configs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker::lint {
namespace {

std::vector<std::string> told_of_config(const std::string& json) {
  const auto document = yaml::Document::parse({json, 1}, "object");
  std::vector<std::string> out;
  for (const auto& finding : lint_config_object(json, document->root()))
    out.push_back(finding.rule + " " + finding.entity.id + " " + finding.field);
  return out;
}

TEST(Configs, OfTheDevicePluginAreLintedInTheirConfigMap) {
  EXPECT_THAT(
      told_of_config(
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"gpu"},"data":{"notes":"any: text","slices":)"
          R"("version: v1\nsharing:\n  timeSlicing:\n    resources:\n    - name: nvidia.com/gpu\n      replicas: 1\n"}})"),
      testing::ElementsAre("device-plugin-sharing gpu/ConfigMap/c data[slices]:6"));
}

TEST(Configs, AlertsAreLintedInTheirObject) {
  const auto told = told_of_config(
      R"({"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusRule","metadata":{"name":"r","namespace":"mon"},"spec":{"groups":[{"name":"g","rules":[)"
      R"({"alert":"A","expr":"increase(DCGM_FI_DEV_XID_ERRORS[5m]) > 0"}]}]}})");
  EXPECT_THAT(
      told, testing::Contains("dcgm-xid-count mon/PrometheusRule/r spec.groups[0].rules[0].expr"));
}

TEST(Configs, OthersAreLeftAlone) {
  EXPECT_THAT(
      told_of_config(
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"sharing: [","b":"expr: up"}})"),
      testing::IsEmpty());
}

}  // namespace
}  // namespace stoker::lint
