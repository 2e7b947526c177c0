#include "net/http_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <thread>

#include "net/http_client.h"
#include "net/raw_client_test_support.h"

namespace stoker::net {
namespace {

using std::chrono::milliseconds;
// For what has to come: long enough for any machine, however busy. And for what must not.
constexpr milliseconds patience{60'000};
constexpr milliseconds hour{3'600'000};

Response echo(const Request& request) {
  if (request.path == "/big") return {.body = std::string(100'000, 'x')};
  return {.body = request.method + " " + request.path + " [" + request.query + "] " + request.body};
}

std::unique_ptr<HttpServer> serve(ServerOptions options = {}) {
  options.listen = "127.0.0.1:0";
  auto server = start(options, echo);
  if (!server) ADD_FAILURE() << server.error().describe();
  return std::move(*server);
}

std::string ask(const HttpServer& server, std::string_view request) {
  RawClient client(server.address());
  client.send(request);
  return client.read_to_end();
}

std::string body_of(const std::string& response) {
  return response.substr(response.find("\r\n\r\n") + 4);
}

std::string gunzip(const std::string& packed) {
  z_stream stream{};
  if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) return "";
  std::string in = packed;
  std::string out(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  inflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(HttpClient, KnowsAUrlAndKeepsItsPasswordToItself) {
  for (const char* good : {"http://h", "https://u:p@h:443/a?b=c", "http://[::1]:9093/"}) {
    EXPECT_FALSE(url_problem(good)) << good;
  }
  for (const char* bad : {"", "h", "ftp://h/", "http://", "http://a b/", "http://[::1",
                          "http://h:99999", "http://x/\r\nX: y"}) {
    EXPECT_TRUE(url_problem(bad)) << bad;
  }
  EXPECT_EQ(without_secrets("https://u:p@h:443/a@b"), "https://h:443/a@b");
  EXPECT_EQ(without_secrets("http://h/a@b"), "http://h/a@b");
}

TEST(HttpServer, HasADoorForItsOwnerThatSaysWhoAsks) {
  std::string name = ::testing::TempDir() + "doorXXXXXX";
  const std::filesystem::path folder = ::mkdtemp(name.data());
  const std::string path = folder / "stoker.sock";
  const auto who = [](const Request& request) -> Response {
    return {.body = request.method + " " + request.body + " " +
                    (request.local_user ? std::to_string(*request.local_user) : "nobody")};
  };
  {
    const auto server = HttpServer::bind({.listen = "127.0.0.1:0", .max_connections = 2});
    ASSERT_TRUE(server) << server.error().describe();
    const auto refused = (*server)->also_listen_on(std::string(200, 'x'));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("too long for a Unix socket"), std::string::npos);
    ASSERT_TRUE((*server)->also_listen_on(path));
    (*server)->serve(who);
    struct stat seen{};
    ASSERT_EQ(::stat(path.c_str(), &seen), 0);
    EXPECT_EQ(seen.st_mode & 0777U, 0600U);
    const auto inside =
        http_send({.method = "POST", .url = "http://localhost/", .body = "x", .unix_socket = path});
    ASSERT_TRUE(inside) << inside.error().describe();
    EXPECT_EQ(inside->body, "POST x " + std::to_string(::getuid()));
    const auto outside =
        http_send({.method = "POST", .url = "http://" + (*server)->address(), .body = "x"});
    EXPECT_EQ(outside->body, "POST x nobody");
    std::vector<std::unique_ptr<RawClient>> crowd;
    for (int i = 0; i < 100; ++i)
      crowd.push_back(std::make_unique<RawClient>((*server)->address()));
    const auto owner = http_send({.url = "http://localhost/", .unix_socket = path});
    ASSERT_TRUE(owner) << owner.error().describe();
    EXPECT_EQ(owner->status, 200) << "no crowd at the other door keeps the owner out";
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::remove_all(folder);
}

TEST(HttpServer, AnswersAndTellsThePortItGot) {
  const auto server = serve();
  EXPECT_EQ(server->address().rfind("127.0.0.1:", 0), 0U);
  EXPECT_NE(server->address(), "127.0.0.1:0");
  const auto answer =
      ask(*server, "GET /a%20b?x=1&y=%20 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(answer.rfind("HTTP/1.1 200 OK\r\n", 0), 0U) << answer;
  EXPECT_EQ(body_of(answer), "GET /a b [x=1&y=%20] ");
}

TEST(HttpServer, KeepsTheConnectionAndAnswersPipelinedRequestsInOrder) {
  const auto server = serve();
  RawClient client(server->address());
  client.send(
      "GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\nConnection: close\r\n\r\n");
  const auto all = client.read_to_end();
  const auto first = all.find("GET /1");
  const auto second = all.find("GET /2");
  const auto third = all.find("GET /3");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
}

TEST(HttpServer, AnswersHeadWithTheLengthAndNoBody) {
  const auto server = serve();
  const auto answer = ask(*server, "HEAD /big HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_NE(answer.find("Content-Length: 100000\r\n"), std::string::npos) << answer;
  EXPECT_EQ(body_of(answer), "");
}

TEST(HttpServer, CompressesWhereTheClientAcceptsIt) {
  const auto server = serve();
  const auto packed =
      ask(*server,
          "GET /big HTTP/1.1\r\nAccept-Encoding: deflate, gzip;q=0.5\r\nConnection: close\r\n\r\n");
  EXPECT_NE(packed.find("Content-Encoding: gzip\r\n"), std::string::npos);
  EXPECT_EQ(gunzip(body_of(packed)), std::string(100'000, 'x'));
  const auto plain =
      ask(*server, "GET /big HTTP/1.1\r\nAccept-Encoding: gzip;q=0\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(body_of(plain), std::string(100'000, 'x'));
}

TEST(HttpServer, PassesTheBodyOn) {
  const auto server = serve();
  const auto answer =
      ask(*server, "POST /p HTTP/1.1\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
  EXPECT_EQ(body_of(answer), "POST /p [] hello");
}

TEST(HttpServer, RefusesWhatIsTooLargeAndSaysSo) {
  const auto server = serve({.max_header_bytes = 1024, .max_body_bytes = 1000});
  const auto body =
      ask(*server, "POST /p HTTP/1.1\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'y'));
  EXPECT_EQ(body.rfind("HTTP/1.1 413 ", 0), 0U) << body;
  const auto chunked =
      ask(*server, "POST /p HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" +
                       std::string(2000, 'y') + "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.rfind("HTTP/1.1 413 ", 0), 0U) << chunked;
  const auto header = ask(*server, "GET / HTTP/1.1\r\nX: " + std::string(2000, 'z') + "\r\n\r\n");
  EXPECT_EQ(header.rfind("HTTP/1.1 431 ", 0), 0U) << header;
}

TEST(HttpServer, RefusesWhatIsNoRequest) {
  const auto server = serve();
  EXPECT_EQ(ask(*server, "\x16\x03\x01 hello\r\n\r\n").rfind("HTTP/1.1 400 ", 0), 0U);
  EXPECT_EQ(ask(*server, "GET /%zz HTTP/1.1\r\n\r\n").rfind("HTTP/1.1 400 ", 0), 0U);
}

TEST(HttpServer, DisconnectsAClientThatDripsItsRequest) {
  const auto server = serve({.request_timeout = milliseconds(300)});
  RawClient client(server->address());
  bool alive = client.send("GET / HTTP/1.1\r\n");
  while (alive && !client.closed_by_peer()) {  // for ever, were it not for the server
    alive = client.send("X: 1\r\n");
    client.read_to_end(milliseconds(50));
  }
}

TEST(HttpServer, DisconnectsAClientThatSaysNothingOrHalfARequest) {
  const auto server = serve({.request_timeout = milliseconds(200)});
  RawClient silent(server->address());
  RawClient half(server->address());
  half.send("GET / HTTP/1.1\r\nHos");
  EXPECT_EQ(silent.read_to_end(patience), "");
  EXPECT_TRUE(silent.closed_by_peer());
  EXPECT_EQ(half.read_to_end(patience), "");
  EXPECT_TRUE(half.closed_by_peer());
}

TEST(HttpServer, DisconnectsAnIdleConnection) {
  const auto server = serve({.request_timeout = hour, .idle_timeout = milliseconds(200)});
  RawClient client(server->address());
  client.send("GET /1 HTTP/1.1\r\n\r\n");
  EXPECT_NE(client.read_response().find("GET /1"), std::string::npos);
  EXPECT_EQ(client.read_to_end(patience), "");
  EXPECT_TRUE(client.closed_by_peer());
}

TEST(HttpServer, LetsAConnectionBeIdleForLongerThanARequestMayTake) {
  const auto server = serve({.request_timeout = milliseconds(300), .idle_timeout = hour});
  RawClient client(server->address());
  client.send("GET /1 HTTP/1.1\r\n\r\n");
  EXPECT_NE(client.read_response().find("GET /1"), std::string::npos);
  EXPECT_EQ(client.read_to_end(milliseconds(600)), "");
  EXPECT_FALSE(client.closed_by_peer());
  client.send("GET /2 HTTP/1.1\r\n\r\n");
  EXPECT_NE(client.read_response().find("GET /2"), std::string::npos);
}

TEST(HttpServer, DisconnectsAClientThatDoesNotTakeItsResponse) {
  const auto options = ServerOptions{
      .listen = "127.0.0.1:0", .max_connections = 1, .request_timeout = milliseconds(300)};
  const auto server = start(options, [](const Request& request) {
    return Response{.body = std::string(request.path == "/huge" ? 64 << 20 : 1, 'x')};
  });
  ASSERT_TRUE(server);
  RawClient client((*server)->address());
  client.send("GET /huge HTTP/1.1\r\n\r\n");  // more than socket buffers hold
  // There is room for another one when the server has left the first.
  while (ask(**server, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n").find(" 200 ") ==
         std::string::npos) {
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_LT(client.read_to_end(patience).size(), 64U << 20);
  EXPECT_TRUE(client.closed_by_peer());
}

TEST(HttpServer, SaysThatItIsFullAndRecovers) {
  const auto server = serve({.max_connections = 20, .always = {"/healthz"}});
  {
    std::vector<std::unique_ptr<RawClient>> many;
    for (int i = 0; i < 20; ++i) {
      many.push_back(std::make_unique<RawClient>(server->address()));
      many.back()->send("GET / HTTP/1.1\r\n\r\n");
      ASSERT_NE(many.back()->read_response().find(" 200 "), std::string::npos) << i;
    }
    const auto answer = ask(*server, "GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(answer.rfind("HTTP/1.1 503 ", 0), 0U) << answer;
    EXPECT_NE(ask(*server, "GET /healthz HTTP/1.1\r\n\r\n").find(" 200 "), std::string::npos)
        << "whether it lives is told all the same";
    std::vector<std::unique_ptr<RawClient>> too_many;
    for (int i = 0; i < 100; ++i)
      too_many.push_back(std::make_unique<RawClient>(server->address()));
    EXPECT_TRUE(many.front()->send("GET /still HTTP/1.1\r\n\r\n"));
    EXPECT_NE(many.front()->read_response().find("/still"), std::string::npos);
  }
  std::string answer;
  for (int i = 0; i < 100 && answer.find(" 200 ") == std::string::npos; ++i) {
    std::this_thread::sleep_for(milliseconds(20));
    answer = ask(*server, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  }
  EXPECT_NE(answer.find(" 200 "), std::string::npos) << answer;
}

TEST(HttpServer, StopsWhateverItsClientsDo) {
  auto server = serve();
  RawClient idle(server->address());
  RawClient half(server->address());
  half.send("GET / HT");
  server.reset();
  idle.read_to_end(patience);
  EXPECT_TRUE(idle.closed_by_peer());
}

TEST(HttpServer, SaysWhatToDoWhenTheAddressIsTaken) {
  const auto first = serve();
  const auto second = start({.listen = first->address()}, echo);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(second.error().message(),
            first->address() +
                " is already in use: another stoker or exporter listens there; stop it or choose "
                "another address with --listen HOST:PORT");
}

TEST(HttpServer, RefusesAddressesThatAreNone) {
  for (const char* listen : {"9400", "localhost", "127.0.0.1:99999", "::1:9400", "192.0.2.1:0"}) {
    const auto server = start({.listen = listen}, echo);
    ASSERT_FALSE(server) << listen;
    EXPECT_EQ(server.error().code(), ErrorCode::invalid_input) << server.error().describe();
  }
}

TEST(HttpServer, AnswersWhenAHandlerThrows) {
  const auto server =
      start({.listen = "127.0.0.1:0"}, [](const Request&) -> Response { throw std::bad_alloc(); });
  ASSERT_TRUE(server);
  const auto answer = ask(**server, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(answer.rfind("HTTP/1.1 500 ", 0), 0U) << answer;
}

}  // namespace
}  // namespace stoker::net
