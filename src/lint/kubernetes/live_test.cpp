#include "lint/kubernetes/live.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lint/kubernetes/field_path.h"

namespace stoker::lint::kubernetes {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

// "rule field" of each finding.
std::vector<std::string> told_of(const std::string& json, const LiveLinter& linter = {}) {
  const auto document = yaml::Document::parse({json, 1}, "object");
  if (!document) return {"no document"};
  std::vector<std::string> out;
  for (const auto& finding : linter.lint(document->root()).findings) {
    EXPECT_FALSE(finding.location);
    out.push_back(finding.rule + " " + finding.field);
  }
  return out;
}

std::string path_at(const std::string& json, std::string_view word) {
  const auto document = yaml::Document::parse({json, 1}, "object");
  return field_path_of(document->root(), {1, static_cast<int>(json.find(word)) + 1});
}

TEST(FieldPath, NamesTheFieldAtAPlace) {
  const std::string json =
      R"({"a":{"labels":{"app.io/x":"here"},"list":[{"name":"one","v":1},{"name":"two","v":[true]}]}})";
  EXPECT_EQ(path_at(json, "\"here\""), "a.labels[app.io/x]");
  EXPECT_EQ(path_at(json, "\"two\""), "a.list[1].name");
  EXPECT_EQ(path_at(json, "\"name\":\"two\""), "a.list[1]")
      << "the first key is where the map begins";
  EXPECT_EQ(path_at(json, "\"v\":1"), "a.list[0].v");
  EXPECT_EQ(path_at(json, "true"), "a.list[1].v[0]");
  EXPECT_EQ(path_at(json, "{\"a\""), "");
}

// A Deployment as an apiserver of 1.20 gives it, with its defaults filled in.
std::string deployment_json(std::string_view container, std::string_view meta = "") {
  return std::string(
             R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"llm","namespace":"ml")") +
         std::string(meta) +
         R"(},"spec":{"progressDeadlineSeconds":600,"replicas":2,"revisionHistoryLimit":10,"selector":{"matchLabels":{"app":"llm"}},)"
         R"("strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"},)"
         R"("template":{"metadata":{"creationTimestamp":null,"labels":{"app":"llm"}},"spec":{"containers":[{)" +
         std::string(container) +
         R"("imagePullPolicy":"IfNotPresent","name":"main","resources":{"limits":{"memory":"64Gi","nvidia.com/gpu":"1"},)"
         R"("requests":{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"1"}},"terminationMessagePath":"/dev/termination-log",)"
         R"("terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","nodeSelector":{"a":"b"},"restartPolicy":"Always","schedulerName":"default-scheduler",)"
         R"("securityContext":{},"terminationGracePeriodSeconds":30,"tolerations":[{"key":"nvidia.com/gpu","operator":"Exists"}]}}},"status":{"replicas":2}})";
}

TEST(LiveLinter, BlamesNobodyForTheApiserversDefaults) {
  EXPECT_THAT(told_of(deployment_json(R"("image":"example.com/work:1.2",)")), IsEmpty());
}

TEST(LiveLinter, NamesTheObjectAndItsField) {
  const auto json = deployment_json(
      R"("env":[{"name":"A","value":"b"},{"name":"CUDA_LAUNCH_BLOCKING","value":"1"}],"image":"example.com/work",)");
  EXPECT_THAT(told_of(json),
              testing::ElementsAre("debug-left spec.template.spec.containers[0].env[1]",
                                   "image-untagged spec.template.spec.containers[0].image"));
  const auto document = yaml::Document::parse({json, 1}, "object");
  const auto finding = LiveLinter().lint(document->root()).findings.at(0);
  EXPECT_EQ(finding.entity, (Entity{EntityKind::object, "ml/Deployment/llm"}));
}

TEST(LiveLinter, HasTheAnnotationsOfFiles) {
  const auto json =
      deployment_json(R"("image":"example.com/work",)",
                      R"(,"annotations":{"stoker.dev/lint-ignore":"image-untagged"})");
  const auto document = yaml::Document::parse({json, 1}, "object");
  const auto found = LiveLinter().lint(document->root());
  EXPECT_THAT(found.findings, IsEmpty());
  EXPECT_EQ(found.ignored, 1U);
  EXPECT_TRUE(found.workload);
}

TEST(LiveLinter, KnowsServersByTheServicesOfTheirNamespace) {
  const auto server = deployment_json(R"("image":"example.com/work:1.2",)");
  const auto with_service = [&](const std::string& space) {
    LiveLinter linter;
    const std::string json =
        R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":")" + space +
        R"("},"spec":{"selector":{"app":"llm"}}})";
    linter.add_service(yaml::Document::parse({json, 1}, "service")->root());
    return told_of(server, linter);
  };
  EXPECT_THAT(with_service("ml"), Contains("readiness-missing spec.template.spec.containers[0]"));
  EXPECT_THAT(with_service("other"),
              Not(Contains("readiness-missing spec.template.spec.containers[0]")));
}

TEST(LiveLinter, CountsGpusByTheClaimsOfTheNamespace) {
  const std::string pod =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ml"},"spec":{"resourceClaims":[{"name":"card","resourceClaimTemplateName":"cards"}],)"
      R"("containers":[{"name":"a","image":"example.com/x:1","command":["vllm","serve","/m","-tp","4"],"resources":{"claims":[{"name":"card"}]}}]}})";
  const auto with_claims = [&](const std::string& space) {
    LiveLinter linter;
    const std::string json =
        R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaimTemplate","metadata":{"name":"cards","namespace":")" +
        space +
        R"("},"spec":{"spec":{"devices":{"requests":[{"name":"g","exactly":{"deviceClassName":"gpu.nvidia.com","count":2}}]}}}})";
    linter.add_claim(yaml::Document::parse({json, 1}, "claim")->root(), json);
    return told_of(pod, linter);
  };
  EXPECT_THAT(with_claims("ml"), Contains("parallel-above-gpus spec.containers[0].command[3]"));
  EXPECT_THAT(with_claims("other"), Not(Contains(testing::HasSubstr("parallel-above-gpus"))));
}

// What admission puts into every pod: its token and the tolerations of a node that is not ready.
TEST(LiveLinter, BlamesNobodyForWhatAdmissionPutsIntoAPod) {
  EXPECT_THAT(
      told_of(
          R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ml"},"spec":{"containers":[{"command":["python","work.py"],"image":"example.com/work:1.2",)"
          R"("name":"main","resources":{"limits":{"memory":"64Gi","nvidia.com/gpu":"1"},"requests":{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"1"}},)"
          R"("volumeMounts":[{"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount","name":"default-token-x","readOnly":true}]}],)"
          R"("enableServiceLinks":true,"nodeName":"gpu-1","nodeSelector":{"a":"b"},"preemptionPolicy":"PreemptLowerPriority","priority":0,"serviceAccountName":"default",)"
          R"("tolerations":[{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":300},)"
          R"({"key":"nvidia.com/gpu","operator":"Exists"}],"volumes":[{"name":"default-token-x","secret":{"defaultMode":420,"secretName":"default-token-x"}}]}})"),
      IsEmpty());
}

}  // namespace
}  // namespace stoker::lint::kubernetes
