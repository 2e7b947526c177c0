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

PodResources one_pod() { return {{.pod = "trainer"}}; }

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
  pods.take(PodResources{}, start + Seconds(20));
  EXPECT_THAT(pods.resources(), IsEmpty()) << "a pod that is gone is gone";
  EXPECT_EQ(pods.source(), (AttributionSource{.reason = Reason::ok, .at = start + Seconds(20)}));
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
