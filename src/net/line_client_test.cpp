#include "net/line_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <thread>

namespace stoker::net {
namespace {

using namespace std::chrono_literals;

// Listens on a free port, answers one client by `talk`, and is joined at its end.
class OneServer {
 public:
  explicit OneServer(std::function<void(int)> talk)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this, talk = std::move(talk)] {
      const UniqueFd client(::accept(listener_.get(), nullptr, nullptr));
      talk(client.get());
    });
  }
  [[nodiscard]] HostPort address() const { return {"127.0.0.1", port_}; }

 private:
  UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

TEST(LineClient, SpeaksByLinesAndReadsToTheEnd) {
  const OneServer server([](int client) {
    std::array<char, 100> asked{};
    EXPECT_GT(::recv(client, asked.data(), asked.size(), 0), 0);
    const std::string_view answer = "SERVER PROTOCOL 2\nall\nthe rest";
    EXPECT_EQ(::send(client, answer.data(), answer.size(), 0), std::ssize(answer));
  });
  auto client = LineClient::connect(server.address(), 5s);
  ASSERT_TRUE(client) << client.error().message();
  ASSERT_TRUE(client->send("CLIENT PROTOCOL 2\n"));
  EXPECT_EQ(client->read_line().value_or(""), "SERVER PROTOCOL 2");
  EXPECT_EQ(client->read_all(1000).value_or(""), "all\nthe rest");
}

TEST(LineClient, EndsByItsDeadlineWhereNothingComes) {
  const OneServer server([](int client) {
    char byte = 0;
    while (::recv(client, &byte, 1, 0) > 0) continue;
  });
  auto client = LineClient::connect(server.address(), 100ms);
  ASSERT_TRUE(client);
  const auto line = client->read_line();
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code(), ErrorCode::timeout);
}

TEST(LineClient, SaysThatNobodyListens) {
  std::uint16_t port = 0;
  {
    const OneServer server([](int) {});
    port = server.address().port;
    EXPECT_TRUE(LineClient::connect(server.address(), 5s));
  }
  const auto client = LineClient::connect({"127.0.0.1", port}, 5s);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code(), ErrorCode::unavailable);
}

TEST(LineClient, RefusesAnAnswerWithoutEnd) {
  const OneServer server([](int client) {
    const std::string much(100'000, 'x');
    while (::send(client, much.data(), much.size(), MSG_NOSIGNAL) > 0) continue;
  });
  auto client = LineClient::connect(server.address(), 5s);  // closes before the server is joined
  ASSERT_TRUE(client);
  const auto all = client->read_all(1'000'000);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace stoker::net
