#include "lint/prometheus/rule_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "lint/prometheus/metric.h"

namespace stoker::lint {
namespace {

using Said = std::vector<std::string>;

std::vector<Finding> findings_of(std::string_view text) {
  const auto root = yaml::parse(text, "f");
  EXPECT_TRUE(root) << root.error().message();
  return root ? lint_prometheus_rules(*root, "f") : std::vector<Finding>{};
}

Said rules_of(const std::vector<Finding>& findings) {
  Said out;
  out.reserve(findings.size());
  for (const auto& finding : findings) out.push_back(finding.rule);
  return out;
}

// Rules that fire for an alert over `expression`.
Said of_alert(const std::string& expression, const std::string& more = "") {
  return rules_of(findings_of("groups:\n- name: g\n  rules:\n  - alert: A\n    expr: '" +
                              expression + "'\n" + more));
}
Said of_record(const std::string& name, const std::string& expression) {
  return rules_of(findings_of("groups:\n- name: g\n  rules:\n  - record: " + name +
                              "\n    expr: '" + expression + "'\n"));
}

// Rules of our own hand, as careful public sets have them.
TEST(PrometheusRules, ThatAreCarefulAreLeftAlone) {
  EXPECT_EQ(rules_of(findings_of(R"(apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: gpus}
spec:
  groups:
  - name: hardware
    rules:
    - alert: GpuXidHardware
      expr: changes(DCGM_FI_DEV_XID_ERRORS{Hostname!=""}[10m]) > 0 and DCGM_FI_DEV_XID_ERRORS == 79
      for: 0m
      labels: {severity: critical}
      annotations:
        summary: "GPU {{ $labels.gpu }} of {{ $labels.Hostname }}: Xid {{ $value }}"
    - alert: GpuUncorrectableRows
      expr: DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS > 0
    - alert: GpuRowRemapFailed
      expr: max by (Hostname, gpu) (DCGM_FI_DEV_ROW_REMAP_FAILURE) == 1
      annotations: {summary: "{{ $labels.Hostname }} {{ $labels.gpu }}"}
    - alert: GpuPcieReplays
      expr: increase(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[1h]) > 100
    - alert: GpuGone
      expr: count by (Hostname) (DCGM_FI_DEV_GPU_TEMP) < count by (Hostname) (DCGM_FI_DEV_GPU_TEMP offset 1h)
    - alert: ExporterGone
      expr: absent(up{job="dcgm-exporter"} == 1)
    - alert: HeldAndIdle
      expr: |
        avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE{pod!=""}[1h]) < 0.05
          and on (pod, namespace) kube_pod_status_phase{phase="Running"} == 1
      for: 1h
    - alert: PowerNearLimit
      expr: DCGM_FI_DEV_POWER_USAGE > 720
    - alert: Clocks
      expr: avg by (gpu) (DCGM_FI_DEV_SM_CLOCK) < 1000
  - name: recordings
    rules:
    - record: gpu:memory_used_bytes
      expr: DCGM_FI_DEV_FB_USED * 1024 * 1024
    - record: cluster:gpu_power_watts:sum
      expr: sum(DCGM_FI_DEV_POWER_USAGE)
    - record: gpu:joules:rate5m
      expr: rate(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION[5m]) / 1000
)")),
            Said{});
}

TEST(PrometheusRules, TheLastXidIsNoCountAndNeverClears) {
  EXPECT_EQ(of_alert("increase(DCGM_FI_DEV_XID_ERRORS[5m]) > 0"), (Said{"dcgm-xid-count"}));
  EXPECT_EQ(of_alert("DCGM_FI_DEV_XID_ERRORS != 0"), (Said{"dcgm-xid-sticks"}));
  EXPECT_EQ(of_alert("DCGM_FI_DEV_XID_ERRORS > 0", "    labels: {severity: critical}\n"),
            (Said{"dcgm-xid-page", "dcgm-xid-sticks"}));
  EXPECT_EQ(of_alert("DCGM_FI_DEV_XID_ERROR == 79"), (Said{"dcgm-renamed", "dcgm-xid-sticks"}));
}

TEST(PrometheusRules, FunctionsHaveToFitWhatAMetricIs) {
  EXPECT_EQ(of_alert("rate(DCGM_FI_DEV_GPU_TEMP[5m]) > 1"), (Said{"dcgm-rate-of-gauge"}));
  EXPECT_EQ(of_alert("DCGM_FI_DEV_PCIE_REPLAY_COUNTER > 10"), (Said{"dcgm-counter-threshold"}));
  EXPECT_EQ(of_alert("sum(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL) > 100"),
            (Said{"dcgm-counter-threshold", "dcgm-not-exported"}));
  EXPECT_EQ(of_alert("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS > 0"),
            (Said{"dcgm-bits", "dcgm-not-exported"}));
}

TEST(PrometheusRules, ThresholdsHaveToFitScaleAndUnit) {
  EXPECT_EQ(of_alert("DCGM_FI_PROF_GR_ENGINE_ACTIVE > 80"), (Said{"dcgm-scale"}));
  EXPECT_EQ(of_alert("DCGM_FI_PROF_GR_ENGINE_ACTIVE * 100 > 80"), Said{});
  EXPECT_EQ(of_alert("sum(DCGM_FI_PROF_GR_ENGINE_ACTIVE) > 80"), Said{}) << "of a hundred GPUs";
  EXPECT_EQ(of_alert("0.95 < avg(DCGM_FI_DEV_GPU_UTIL)"), (Said{"dcgm-scale"}));
  EXPECT_EQ(of_alert("DCGM_FI_DEV_GPU_UTIL / 100 > 0.95"), Said{});
  EXPECT_EQ(of_alert("DCGM_FI_DEV_FB_USED > 70 * 1024 * 1024 * 1024"), (Said{"dcgm-unit"}));
  EXPECT_EQ(of_alert("DCGM_FI_DEV_FB_USED * 1048576 > 70 * 1024 ^ 3"), Said{});
  // 500,000 MiB, where 500 MB were meant: true of every card.
  EXPECT_EQ(of_alert("DCGM_FI_DEV_FB_FREE < 500000"), (Said{"dcgm-unit"}));
  EXPECT_EQ(of_alert("DCGM_FI_DEV_FB_FREE < 2000"), Said{});
  EXPECT_EQ(of_alert("DCGM_FI_DEV_POWER_USAGE > 350000"), (Said{"dcgm-unit"}));
  EXPECT_EQ(of_record("accelerator_memory_total_bytes", "DCGM_FI_DEV_FB_USED"),
            (Said{"dcgm-unit-name"}));
  EXPECT_EQ(of_record("accelerator_sm_clock_hertz", "avg by (gpu) (DCGM_FI_DEV_SM_CLOCK)"),
            (Said{"dcgm-unit-name"}));
}

TEST(PrometheusRules, AFieldThatIsAListIsNoSeriesAndSaysSo) {
  const auto found = findings_of(
      "groups:\n- rules:\n  - alert: A\n    expr: count(DCGM_FI_DEV_COMPUTE_PIDS) > 1\n");
  ASSERT_EQ(rules_of(found), (Said{"dcgm-unknown-metric"}));
  EXPECT_NE(found[0].message.find("is a list in DCGM"), std::string::npos) << found[0].message;
}

TEST(PrometheusRules, NamesHaveToBeThoseThatAnExporterHas) {
  const auto found =
      findings_of("groups:\n- rules:\n  - alert: A\n    expr: avg(DCGM_FI_DEV_GPU_UTILL) > 90\n");
  ASSERT_EQ(rules_of(found), (Said{"dcgm-unknown-metric"}));
  EXPECT_NE(found[0].message.find("DCGM_FI_DEV_GPU_UTIL"), std::string::npos);
  EXPECT_EQ(found[0].location->line, 4);
  EXPECT_EQ(found[0].location->column, 15);
  EXPECT_EQ(of_alert("DCGM_EXP_XID_ERRORS_COUNT > 0"), Said{});
  EXPECT_EQ(of_alert("DCGM_FI_DEV_GPU_UTIL{GPU_I_ID=\"3\"} > 90"), (Said{"dcgm-util-mig"}));
  EXPECT_EQ(of_alert("DCGM_FI_DEV_GPU_UTIL{GPU_I_ID=\"\"} > 90"), Said{});
}

TEST(PrometheusRules, LabelsOfATextHaveToBeThoseOfTheResult) {
  constexpr auto text =
      "    annotations:\n      summary: 'GPU {{ $labels.gpu }} of {{ $labels.node }}'\n";
  EXPECT_EQ(of_alert("avg by (node) (DCGM_FI_DEV_POWER_USAGE) > 700", text),
            (Said{"dcgm-label-gone"}));
  EXPECT_EQ(of_alert("avg without (pod) (DCGM_FI_DEV_POWER_USAGE) > 700", text),
            (Said{"dcgm-label-node"}));
  EXPECT_EQ(of_alert("DCGM_FI_DEV_POWER_USAGE{node=~\"a.*\"} > 700", text), Said{});
  EXPECT_EQ(of_alert("DCGM_FI_DEV_POWER_USAGE * on (gpu) group_left (node) x > 700", text), Said{});
}

TEST(PrometheusRules, HabitsThatCryAreWorthAWord) {
  EXPECT_EQ(of_alert("DCGM_FI_DEV_GPU_TEMP > 85"), (Said{"dcgm-temperature"}));
  EXPECT_EQ(of_alert("DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE) > 0.9"),
            (Said{"dcgm-memory-full"}));
  EXPECT_EQ(of_alert("avg_over_time(DCGM_FI_DEV_GPU_UTIL[30m]) < 5"), (Said{"dcgm-idle"}));
  EXPECT_EQ(rules_of(findings_of(R"(groups:
- name: g
  rules:
  - {alert: A, expr: DCGM_FI_DEV_POWER_USAGE > 700}
  - {alert: B, expr: DCGM_FI_DEV_ROW_REMAP_FAILURE > 0}
  - {alert: C, expr: DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS > 0}
)")),
            (Said{"dcgm-no-absent"}));
}

TEST(PrometheusRules, OfOtherThingsAndOfTemplatesArePassedOver) {
  EXPECT_EQ(of_alert("node_load1 > 5"), Said{});
  EXPECT_EQ(of_alert("DCGM_FI_DEV_XID_ERRORS > {{ .Values.limit }}"), Said{});
  EXPECT_EQ(rules_of(findings_of("kind: ConfigMap\ngroups: []\n")), Said{});
  EXPECT_EQ(rules_of(findings_of("groups:\n- a\n- rules: x\n- rules:\n  - 5\n  - {alert: A}\n")),
            Said{});
}

TEST(PrometheusRules, InABlockAreToldByTheirLine) {
  const auto found = findings_of(
      "groups:\n- rules:\n  - alert: A\n    expr: |\n      avg(\n      DCGM_FI_DEV_GPU_UTILL\n     "
      " ) > 90\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].location->line, 6);
}

TEST(GpuMetrics, AreFieldsThatDcgmHas) {
  for (const auto* name :
       {"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", "dcgm_gpu_utilization"}) {
    ASSERT_NE(find_gpu_metric(name), nullptr) << name;
    EXPECT_EQ(find_gpu_metric(name)->unit, MetricUnit::percent);
  }
  EXPECT_EQ(find_gpu_metric("DCGM_FI_DEV_NO_SUCH"), nullptr);
  std::ifstream file(STOKER_SOURCE_DIR "/src/lint/prometheus/metrics.def");
  std::string line;
  int rows = 0;
  while (std::getline(file, line)) {
    if (!line.starts_with("STOKER_PROM_METRIC(DCGM")) continue;
    EXPECT_TRUE(is_known_dcgm_name(line.substr(19, line.find(',') - 19))) << line;
    ++rows;
  }
  EXPECT_GT(rows, 40);
}

TEST(PrometheusRules, EveryRuleHasATestAndASource) {
  std::ifstream file(STOKER_SOURCE_DIR "/src/lint/prometheus/rule_file_test.cpp");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const auto& rule : prometheus_rules()) {
    EXPECT_NE(text.find('"' + std::string(rule.id) + '"'), std::string::npos) << rule.id;
    EXPECT_TRUE(rule.source.starts_with("https://")) << rule.id;
  }
}

}  // namespace
}  // namespace stoker::lint
