#include "lint/cluster/owners.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace stoker::lint {
namespace {

Look look(Owners& owners, const std::string& json) {
  const auto document = yaml::Document::parse({json, 1}, "object");
  return owners.look_at(document->root());
}

std::string pod(std::string_view owner, std::string_view image = "a",
                std::string_view status = "Running") {
  return fmt::format(
      R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"p","ownerReferences":[{}]}},"spec":{{"containers":[{{"image":"{}"}}]}},"status":{{"phase":"{}"}}}})",
      owner, image, status);
}

constexpr const char* replica_set =
    R"({"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"1","controller":true})";
constexpr const char* foreign =
    R"({"apiVersion":"example.com/v1","kind":"Thing","name":"t","uid":"2","controller":true})";

TEST(Owners, PodsOfAControllerThatIsLookedAtAreNot) {
  Owners owners;
  owners.add_kind("apps", "ReplicaSet");
  EXPECT_EQ(look(owners, pod(replica_set)), Look::by_owner);
  EXPECT_EQ(look(owners, pod("")), Look::itself);
}

TEST(Owners, OfAControllerThatNobodyKnowsOnePodOfAShapeIs) {
  Owners owners;
  EXPECT_EQ(look(owners, pod(foreign)), Look::itself);
  EXPECT_EQ(look(owners, pod(foreign)), Look::as_twin);
  EXPECT_EQ(look(owners, pod(foreign, "b")), Look::itself);
  EXPECT_EQ(look(owners, pod(replica_set)), Look::itself) << "its kind could not be listed";
}

TEST(Owners, AnOwnerThatDoesNotControlIsNone) {
  Owners owners;
  owners.add_kind("apps", "ReplicaSet");
  EXPECT_EQ(look(owners, pod(R"({"apiVersion":"apps/v1","kind":"ReplicaSet","uid":"1"})")),
            Look::itself);
}

TEST(Owners, WhatHasEndedIsNotLookedAt) {
  Owners owners;
  EXPECT_EQ(look(owners, pod("", "a", "Succeeded")), Look::ended);
  EXPECT_EQ(look(owners,
                 R"({"kind":"Job","status":{"conditions":[{"type":"Complete","status":"True"}]}})"),
            Look::ended);
  EXPECT_EQ(
      look(
          owners,
          R"({"kind":"PyTorchJob","status":{"conditions":[{"type":"Running","status":"False"},{"type":"Succeeded","status":"True"}]}})"),
      Look::ended);
  EXPECT_EQ(look(owners,
                 R"({"kind":"Job","status":{"conditions":[{"type":"Failed","status":"False"}]}})"),
            Look::itself);
  EXPECT_EQ(look(owners, R"({"kind":"CronJob","status":{}})"), Look::itself);
}

}  // namespace
}  // namespace stoker::lint
