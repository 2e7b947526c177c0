#include "lint/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lint/baseline.h"

namespace stoker::lint {
namespace {

using testing::HasSubstr;

Finding about_an_object() {
  Finding finding;
  finding.rule = "image-latest";
  finding.entity = {EntityKind::object, "ml/Deployment/llm"};
  finding.field = "spec.template.spec.containers[0].image";
  finding.message = "it runs x:latest";
  finding.fix = "Name a version";
  return finding;
}

TEST(Formats, NameTheObjectOfACluster) {
  const std::vector<Finding> findings = {about_an_object()};
  EXPECT_EQ(render_github(findings),
            "::warning title=image-latest::object:ml/Deployment/llm "
            "spec.template.spec.containers[0].image: "
            "it runs x:latest. Name a version\n");
  const auto junit = render_junit(
      findings, std::vector<std::string>{"object:ml/Deployment/llm", "object:ml/Pod/p"});
  EXPECT_THAT(junit,
              HasSubstr("<testsuite name=\"object:ml/Deployment/llm\" tests=\"1\" failures=\"1\""));
  EXPECT_THAT(junit, HasSubstr("<testsuite name=\"object:ml/Pod/p\" tests=\"1\" failures=\"0\""));
}

TEST(Baseline, KnowsTheObjectOfACluster) {
  std::vector<Finding> findings = {about_an_object()};
  const auto baseline = write_baseline(findings);
  findings.push_back(about_an_object());
  findings.back().entity.id = "ml/Deployment/other";
  ASSERT_EQ(take_out_known(baseline, findings), 1U);
  EXPECT_EQ(findings.at(0).entity.id, "ml/Deployment/other");
}

}  // namespace
}  // namespace stoker::lint
