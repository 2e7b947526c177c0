// A response that goes on: what is written arrives, and a peer that is slow, dead or gone harms nobody.
#include "net/event_stream.h"

#include <gmock/gmock.h>

#include <thread>

#include "net/http_client.h"
#include "net/raw_client_test_support.h"

namespace stoker::net {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr milliseconds an_hour{3'600'000};

// "/events" is a stream for each who asks; everything else is answered at once.
class Streams : public ::testing::Test {
 protected:
  void serve(ServerOptions options) {
    options.listen = "127.0.0.1:0";
    auto server = start(std::move(options), [this](const Request& request) -> Response {
      if (request.path != "/events") return {.body = "answered"};
      auto stream = std::make_shared<EventStream>();
      stream->write(event_text("first", "", "{}"));
      const MutexLock lock(mutex_);
      last_id_ = request.last_event_id;
      streams_.push_back(stream);
      return {.content_type = "text/event-stream", .stream = stream};
    });
    ASSERT_TRUE(server) << server.error().describe();
    server_ = std::move(*server);
  }
  std::unique_ptr<RawClient> listen() {
    auto client = std::make_unique<RawClient>(server_->address());
    client->send("GET /events HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 3-4\r\n\r\n");
    EXPECT_THAT(client->read_until_has("first\ndata: {}\n\n"), HasSubstr("first\ndata: {}\n\n"));
    return client;
  }
  std::shared_ptr<EventStream> stream(std::size_t number) {
    const MutexLock lock(mutex_);
    return streams_.at(number);
  }
  std::string last_id() {
    const MutexLock lock(mutex_);
    return last_id_;
  }
  void expect_answers() {
    const auto answer = http_get("http://" + server_->address() + "/");
    ASSERT_TRUE(answer) << answer.error().describe();
    EXPECT_EQ(answer->body, "answered");
  }

  Mutex mutex_;
  std::vector<std::shared_ptr<EventStream>> streams_ GUARDED_BY(mutex_);
  std::string last_id_ GUARDED_BY(mutex_);
  std::unique_ptr<HttpServer> server_;
};

TEST_F(Streams, SayWhatIsWrittenWhenItIsWritten) {
  serve({});
  const auto client = listen();
  EXPECT_EQ(last_id(), "3-4");
  EXPECT_TRUE(stream(0)->write(event_text("incident", "5-1", R"({"a":1})")));
  EXPECT_EQ(client->read_until_has("}\n\n"), "event: incident\nid: 5-1\ndata: {\"a\":1}\n\n");
  EXPECT_TRUE(stream(0)->write("one"));
  stream(0)->end();
  EXPECT_EQ(client->read_to_end(milliseconds(60'000)), "one");
  EXPECT_TRUE(client->closed_by_peer());
  EXPECT_FALSE(stream(0)->write("two"));
  expect_answers();
}

TEST_F(Streams, SayThatTheyAreThereWhenThereIsNothingToSay) {
  serve({.comment_every = milliseconds(10)});
  const auto client = listen();
  for (int n = 0; n < 3; ++n)
    EXPECT_THAT(client->read_until_has("\n\n"), HasSubstr(": nothing new"));
}

TEST_F(Streams, LetAPeerGoThatReadsNothingAndKeepNobodyWaiting) {
  serve({.request_timeout = an_hour});
  const auto slow = listen();
  const auto quick = listen();
  const std::string text(64 << 10, 'x');
  std::size_t written = 0;
  // What the kernel's own buffers hold goes first.
  while (stream(0)->write(text) && written < (64U << 20U)) written += text.size();
  EXPECT_EQ(stream(0)->state(), EventStream::State::let_go);
  EXPECT_TRUE(stream(1)->write("still here\n\n"));
  EXPECT_EQ(quick->read_until_has("\n\n"), "still here\n\n");
  expect_answers();
}

TEST_F(Streams, EndAPeerThatTakesNothingForTooLong) {
  serve({.request_timeout = milliseconds(50)});
  const auto slow = listen();
  const std::string text(64 << 10, 'x');
  // Below what may wait; the time is up all the same.
  std::string some;
  while (some.size() < 8U << 20U) some += text;
  EXPECT_TRUE(stream(0)->write(some));
  while (stream(0)->state() == EventStream::State::open)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(stream(0)->state(), EventStream::State::deserted);
  expect_answers();
}

TEST_F(Streams, KnowThatAPeerHasGone) {
  serve({});
  auto client = listen();
  client.reset();
  while (stream(0)->state() == EventStream::State::open)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(stream(0)->state(), EventStream::State::deserted);
  EXPECT_FALSE(stream(0)->write("x"));
}

TEST_F(Streams, EndWithTheServerWhileOthersWrite) {
  serve({});
  const auto client = listen();
  std::jthread writer([stream = stream(0)] {
    while (stream->write("event\n")) std::this_thread::sleep_for(milliseconds(1));
  });
  client->read_until_has("event\n");
  server_.reset();
  writer.join();
  EXPECT_EQ(stream(0)->state(), EventStream::State::deserted);
  client->read_to_end(milliseconds(60'000));
  EXPECT_TRUE(client->closed_by_peer());
}

TEST_F(Streams, AreNotBegunForWhoAsksForHeadersAlone) {
  serve({});
  RawClient client(server_->address());
  client.send("HEAD /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.read_to_end(), HasSubstr("text/event-stream"));
  EXPECT_TRUE(client.closed_by_peer());
  EXPECT_EQ(stream(0)->state(), EventStream::State::ended);
}

TEST(EventReader, ReadsWhatIsWrittenInPiecesOfAnySize) {
  const std::string text = ": a comment\n\n" + event_text("incident", "1-2", R"({"x":"a\nb"})") +
                           "data:one\r\ndata: two\r\nretry: 5\r\n\r\nevent: no data\n\n";
  for (std::size_t size = 1; size < text.size(); ++size) {
    EventReader reader;
    std::vector<ServerEvent> all;
    for (std::size_t at = 0; at < text.size(); at += size) {
      for (auto& one : reader.read(std::string_view(text).substr(at, size))) {
        all.push_back(std::move(one));
      }
    }
    ASSERT_EQ(all.size(), 2U) << size;
    EXPECT_EQ(all[0].name, "incident");
    EXPECT_EQ(all[0].id, "1-2");
    EXPECT_EQ(all[0].data, R"({"x":"a\nb"})");
    EXPECT_EQ(all[1].data, "one\ntwo");
  }
}

TEST(EventReader, LeavesOutALineThatIsTooLongAndReadsOn) {
  EventReader reader;
  EXPECT_TRUE(reader.read("data: " + std::string(EventReader::longest, 'x') + "\n\n").empty());
  EXPECT_EQ(reader.read("data: y\n\n").size(), 1U);
}

}  // namespace
}  // namespace stoker::net
