#include <gtest/gtest.h>

#include <future>

#include "net/gzip.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/percent.h"
#include "net/raw_client_test_support.h"

namespace stoker::net {
namespace {

TEST(PercentDecode, DecodesAndRefusesHalfEscapes) {
  EXPECT_EQ(*percent_decode("/a%2Fb%20c"), "/a/b c");
  EXPECT_EQ(*percent_decode("/%41"), "/A");
  for (const char* wrong : {"%", "%4", "/%zz", "%4g"}) EXPECT_FALSE(percent_decode(wrong)) << wrong;
}

TEST(AcceptsGzip, FollowsTheWeights) {
  for (const char* yes :
       {"gzip", "GZIP", "deflate, gzip", "gzip;q=0.1", "*", "br;q=1.0, *;q=0.5"}) {
    EXPECT_TRUE(accepts_gzip(yes)) << yes;
  }
  for (const char* no :
       {"", "identity", "gzip;q=0", "gzip; q=0.000", "*;q=0", "xgzip", "*, gzip;q=0"}) {
    EXPECT_FALSE(accepts_gzip(no)) << no;
  }
}

TEST(HttpGet, TellsStatusTypeAndBody) {
  const auto server = start({.listen = "127.0.0.1:0"}, [](const Request& request) {
    return Response{.status = 404, .content_type = "text/x", .body = "no " + request.path};
  });
  ASSERT_TRUE(server);
  const auto answer = http_get("http://" + (*server)->address() + "/thing");
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->content_type, "text/x");
  EXPECT_EQ(answer->body, "no /thing");
  EXPECT_EQ(http_get("http://" + (*server)->address() + "/", {.max_body_bytes = 2}).error().code(),
            ErrorCode::corrupt);
}

TEST(HttpGet, TellsWhenNobodyIsThere) {
  EXPECT_EQ(http_get("http://127.0.0.1:1/").error().code(), ErrorCode::unavailable);
  // Somebody is there, and speaks no HTTP.
  const auto server = start({.listen = "127.0.0.1:0"}, [](const Request&) { return Response{}; });
  ASSERT_TRUE(server);
  EXPECT_EQ(http_get("https://" + (*server)->address() + "/").error().code(), ErrorCode::io);
  EXPECT_EQ(http_get("file:///etc/passwd").error().code(), ErrorCode::invalid_input);
}

TEST(HttpGet, GivesUpAfterItsTimeout) {
  std::promise<void> given_up;
  const auto server =
      start({.listen = "127.0.0.1:0"}, [waiting = given_up.get_future().share()](const Request&) {
        waiting.wait();
        return Response{};
      });
  ASSERT_TRUE(server);
  const auto answer =
      http_get("http://" + (*server)->address() + "/", {.timeout = std::chrono::milliseconds(100)});
  given_up.set_value();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::timeout);
}

}  // namespace
}  // namespace stoker::net
