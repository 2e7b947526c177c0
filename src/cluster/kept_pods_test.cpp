#include "cluster/kept_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker::cluster {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr MonotonicTime start{Seconds(1000)};
const Error away(ErrorCode::unavailable, "nothing listens");

PodsAnswer one_pod(std::uint64_t kubelet = 1) {
  return {.containers = {{.pod = "trainer",
                          .devices = {{.resource = "gpu", .ids = {"GPU-a", "GPU-b"}}}}},
          .kubelet = kubelet};
}

PodsAnswer nothing(std::uint64_t kubelet) { return {.containers = {}, .kubelet = kubelet}; }

TEST(KeptPods, TheLastAnswerIsKeptForFiveMinutesAndThenStale) {
  KeptPods pods;
  pods.take(one_pod(), start);
  pods.take(tl::unexpected(away), start + Seconds(300));
  EXPECT_THAT(pods.resources(), SizeIs(1));
  EXPECT_EQ(pods.source().reason, Reason::ok);
  EXPECT_EQ(pods.source().at, start);
  EXPECT_THAT(pods.source().detail, HasSubstr("nothing listens"));
  pods.take(tl::unexpected(away), start + Seconds(301));
  EXPECT_THAT(pods.resources(), IsEmpty());
  EXPECT_EQ(pods.source().reason, Reason::stale);
  pods.take(tl::unexpected(away), start + Seconds(400));
  EXPECT_EQ(pods.source().reason, Reason::stale);
  EXPECT_EQ(pods.source().at, start);
  EXPECT_EQ(pods.source().detail, "nothing listens");
}

TEST(KeptPods, AnAnswerTakesTheOldOnesPlaceAtOnce) {
  KeptPods pods;
  pods.take(one_pod(), start);
  pods.take(tl::unexpected(away), start + Seconds(10));
  pods.take(nothing(1), start + Seconds(20));
  EXPECT_THAT(pods.resources(), IsEmpty()) << "a pod that is gone is gone";
  EXPECT_EQ(pods.source(), (AttributionSource{.reason = Reason::ok, .at = start + Seconds(20)}));
}

// Kubelet 1.20.2, observed: for half a second to one second after its start it answered, and listed nothing.
TEST(KeptPods, AKubeletThatHasRestartedIsGivenTimeToKnowItsPods) {
  KeptPods pods;
  pods.take(one_pod(), start);
  pods.take(nothing(2), start + Seconds(10));
  EXPECT_THAT(pods.resources(), SizeIs(1));
  EXPECT_EQ(pods.source().reason, Reason::ok);
  EXPECT_THAT(pods.source().detail, HasSubstr("restarted"));
  pods.take(nothing(2), start + Seconds(70));
  EXPECT_THAT(pods.resources(), SizeIs(1));
  pods.take(nothing(2), start + Seconds(71));
  EXPECT_THAT(pods.resources(), IsEmpty()) << "it knows by now";
  EXPECT_EQ(pods.source().detail, "");
}

TEST(KeptPods, OnceARestartedKubeletListsAllPodsOneThatGoesIsGoneAtOnce) {
  KeptPods pods;
  pods.take(one_pod(), start);
  pods.take(nothing(2), start + Seconds(1));
  pods.take(one_pod(2), start + Seconds(2));
  EXPECT_THAT(pods.resources(), SizeIs(1));
  EXPECT_EQ(pods.source().detail, "");
  pods.take(nothing(2), start + Seconds(3));
  EXPECT_THAT(pods.resources(), IsEmpty());
}

TEST(KeptPods, WhatARestartedKubeletGivesToAnotherPodIsNotKept) {
  KeptPods pods;
  pods.take(one_pod(), start);
  PodsAnswer other{
      .containers = {{.pod = "other", .devices = {{.resource = "gpu", .ids = {"GPU-a"}}}}},
      .kubelet = 2};
  pods.take(other, start + Seconds(1));
  ASSERT_THAT(pods.resources(), SizeIs(2));
  EXPECT_EQ(pods.resources()[0].pod, "other");
  EXPECT_EQ(pods.resources()[1].devices.front().ids, std::vector<std::string>{"GPU-b"});
  other.containers.front().devices.front().ids.emplace_back("GPU-b");
  pods.take(other, start + Seconds(2));
  EXPECT_THAT(pods.resources(), SizeIs(1));
}

TEST(KeptPods, BeforeTheFirstAnswerTheReasonIsWhatFailed) {
  KeptPods pods;
  EXPECT_EQ(pods.source().reason, Reason::pending);
  pods.take(tl::unexpected(Error(ErrorCode::not_found, "no folder")), start);
  EXPECT_EQ(pods.source(), AttributionSource{.reason = Reason::no_source}) << "no kubelet here";
  pods.take(tl::unexpected(Error(ErrorCode::no_permission, "refused")), start);
  EXPECT_EQ(pods.source().reason, Reason::no_permission);
  EXPECT_EQ(pods.source().detail, "refused");
  pods.take(tl::unexpected(away), start);
  EXPECT_EQ(pods.source().reason, Reason::failed);
}

}  // namespace
}  // namespace stoker::cluster
