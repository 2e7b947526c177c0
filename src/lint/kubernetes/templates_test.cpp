// Charts before they are rendered: what an action may add is not missed, and what it can't add is.
#include <gtest/gtest.h>

#include "lint/kubernetes/lint_test_support.h"
#include "lint/kubernetes/template_text.h"

namespace stoker::lint::kubernetes {
namespace {

using Told = std::vector<std::string>;

// A Deployment whose container has `lines` between its image and its GPUs, which stand last.
std::string chart(std::string_view lines) {
  return deployment(
      "containers:\n- name: a\n  image: example.com/x:1\n  readinessProbe: {exec: "
      "{command: [x]}}\n" +
      indented(lines, 2) + "  resources:\n    limits: {nvidia.com/gpu: 1}\n");
}

TEST(Templates, an_action_under_a_key_adds_to_that_key_alone) {
  const auto text = chart("env:\n  {{- toYaml .Values.env | nindent 10 }}\n");
  EXPECT_EQ(lines_of_rule(text, "memory-limit-missing").size(), 1U);
  EXPECT_EQ(lines_of_rule(text, "cpu-request-missing").size(), 1U);
}

TEST(Templates, an_action_beside_a_containers_keys_may_add_any) {
  EXPECT_EQ(told(chart("{{- include \"more\" . | nindent 8 }}\n")), Told{});
  EXPECT_EQ(told(chart("{{- include \"more\" . }}\n")), Told{});
}

TEST(Templates, a_probe_whose_question_an_action_writes_has_its_times_from_there) {
  const auto server = [](std::string_view handler) {
    return deployment(
        "containers:\n- name: a\n  image: example.com/x:1\n  command: [vllm, serve, /m]\n"
        "  resources: {limits: {nvidia.com/gpu: 1}}\n  startupProbe:\n    " +
        std::string(handler) +
        "\n    {{- range $key := .Values.times }}\n    {{ $key }}\n    {{- "
        "end }}\n");
  };
  EXPECT_EQ(lines_of_rule(server("{{ .Values.ask }}: {path: /health}"), "startup-short").size(),
            0U);
}

TEST(Templates, a_folder_of_the_node_that_a_condition_mounts_is_nobodys_yet) {
  const auto chart_of = [](std::string_view begin, std::string_view end) {
    return deployment("{{- if .Values.network }}\nhostNetwork: true\n{{- end }}\nvolumes:\n" +
                      std::string(begin) + "- name: d\n  hostPath: {path: /data}\n" +
                      std::string(end) +
                      "containers:\n- name: a\n  image: example.com/x:1\n  volumeMounts: [{name: "
                      "d, mountPath: /data}]\n  resources: {limits: {nvidia.com/gpu: 1}}\n");
  };
  const auto asked = chart_of("{{- if .Values.data }}\n", "{{- end }}\n");
  EXPECT_EQ(lines_of_rule(asked, "host-path").size(), 0U);
  EXPECT_EQ(lines_of_rule(chart_of("", ""), "host-path").size(), 1U);
}

TEST(Templates, an_action_in_resources_may_add_limits_and_requests) {
  const auto text = deployment(
      "containers:\n- name: a\n  image: example.com/x:1\n  resources:\n"
      "    {{- toYaml .Values.resources | nindent 10 }}\n    requests: "
      "{nvidia.com/gpu: 1}\n");
  EXPECT_EQ(told(text), Told{});
}

TEST(Templates, an_action_behind_the_containers_is_none_of_theirs) {
  const auto text = chart("") + "      {{- include \"more\" . | nindent 6 }}\n";
  EXPECT_EQ(lines_of_rule(text, "memory-limit-missing").size(), 1U);
}

TEST(Templates, an_action_at_the_level_of_volumes_may_mount_a_place_that_lasts) {
  const auto server = [](std::string_view action) {
    return deployment(
        "containers:\n- name: a\n  image: example.com/x:1\n  command: [vllm, serve, "
        "org/model]\n  resources: {limits: {nvidia.com/gpu: 1}}\n"
        "volumes:\n- {name: s, emptyDir: {}}\n" +
        std::string(action));
  };
  EXPECT_EQ(lines_of_rule(server(""), "model-cache-missing").size(), 1U);
  EXPECT_EQ(
      lines_of_rule(server("{{- toYaml .Values.volumes | nindent 6 }}\n"), "model-cache-missing")
          .size(),
      0U);
}

TEST(Templates, the_owner_of_an_action_is_the_key_or_item_that_it_writes_into) {
  const auto source = without_actions(
      "a:\n- b: 1\n  c:\n    {{- toYaml .x | nindent 4 }}\n  {{- toYaml .y | nindent 2 }}\n"
      "{{ include \"z\" . }}\n");
  ASSERT_EQ(source.holes.size(), 3U);
  EXPECT_EQ(source.holes[0].owner_line, 3);
  EXPECT_EQ(source.holes[0].owner_column, 2);
  EXPECT_EQ(source.holes[1].owner_line, 2);
  EXPECT_EQ(source.holes[1].owner_column, 0);
  EXPECT_EQ(source.holes[2].owner_line, 0);
}

TEST(Templates, names_that_they_write_are_told_as_such) {
  const auto text =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: \"{{ .Release.Name }}-x\"}\n"
      "spec:\n  containers:\n  - name: a\n    image: x/y:1\n    resources: {limits: "
      "{nvidia.com/gpu: 0.5}}\n";
  const auto found = lint_manifest(text, "m.yaml").findings;
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found.front().message.find("Pod '{{...}}-x'"), std::string::npos)
      << found.front().message;
}

TEST(Templates, an_action_alone_on_its_line_leaves_an_empty_one) {
  // Before the first words of a block YAML takes no deeper blanks.
  EXPECT_EQ(told("a: |\n    {{- if .x }}\n  text\n    {{- end }}\n", Severity::info), Told{});
}

}  // namespace
}  // namespace stoker::lint::kubernetes
