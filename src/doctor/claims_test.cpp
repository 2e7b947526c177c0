// The claims of the handbooks, one test each: what is answered is what is so, and the checks judge by it.
#include "doctor/claims.h"

#include <gtest/gtest.h>

#include "doctor/check.h"
#include "doctor/cuda.h"
#include "doctor/tree_test_support.h"

namespace stoker::doctor {
namespace {

std::string answer(std::string_view id) {
  const Claim* claim = find_claim(id);
  EXPECT_NE(claim, nullptr) << id;
  return claim == nullptr ? "" : std::string(claim->so);
}

void expect_told(const std::string& text, std::initializer_list<std::string_view> words) {
  for (const auto word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

CheckResult look(const std::string& tree, std::string_view id) {
  Context context;
  context.node_name = "node";
  const Tree node = Tree::load(tree);
  context.in_container = node.head("container") == "yes";
  auto results = examine(node, context, [&](const CheckRow& row) { return row.id == id; });
  EXPECT_EQ(results.size(), 1U);
  return results.empty() ? CheckResult{} : std::move(results.front());
}

TEST(Claims, OfDcgmLevelsFirstTestsSoftwareAloneAndThereAreFour) {
  expect_told(answer("dcgm-levels"), {"Level 1 is the software check alone",
                                      "Level 2 adds memory and pcie", "Level 4 adds memtest"});
  expect_told(answer("dcgm-health"), {"tests nothing", "dcgmi health -s a"});
}

TEST(Claims, OfDkmsThatAMakeLogInBuildIsAFailureAndTheStateIsAdded) {
  expect_told(answer("dkms-silent"), {"'added'", "a make.log in build is a failure"});
  EXPECT_EQ(look("dkms-build-failed", "dkms-build").outcome, Outcome::found);
  // The healthy node has a make.log too, of a build that succeeded.
  EXPECT_EQ(look("healthy-hgx", "dkms-build").outcome, Outcome::fine);
}

TEST(Claims, OfCudaThatADriverOfTheFamilyIsEnough) {
  expect_told(answer("cuda-matrix"), {"branch 525", "580", "cuda-compat"});
  EXPECT_EQ(fit_of({12, 8}, "535.261.03"), CudaFit::minor_compat);
  EXPECT_EQ(fit_of({13, 0}, "535.261.03"), CudaFit::too_old);
}

TEST(Claims, OfPersistenceThatItKeepsNoMig) {
  expect_told(answer("persistence-mig"), {"nothing else", "instances never do"});
  const auto result = look("no-persistence", "persistence-daemon");
  ASSERT_EQ(result.outcome, Outcome::found);
  expect_told(result.findings.front().cause, {"does not restore MIG instances"});
}

TEST(Claims, OfSharedMemoryThatItsDefaultIs64MibAndCountsToTheLimit) {
  expect_told(answer("shm-size"), {"64 MiB is the default of Docker and containerd",
                                   "counts to the container's memory limit"});
  const auto result = look("pod-without-gpu", "shared-memory");
  ASSERT_EQ(result.outcome, Outcome::found);
  EXPECT_EQ(result.findings.front().message, "/dev/shm holds 64 MiB");
}

TEST(Claims, HaveIdsThatNoCheckHas) {
  for (const auto& claim : all_claims()) {
    EXPECT_EQ(find_check(claim.id), nullptr) << claim.id;
    EXPECT_TRUE(claim.source.starts_with("https://")) << claim.id;
  }
}

}  // namespace
}  // namespace stoker::doctor
