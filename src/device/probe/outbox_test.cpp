#include "device/probe/outbox.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <algorithm>

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "device/probe/packet.h"

namespace stoker::device::probe {
namespace {

class Pair : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    near.reset(ends[0]);
    far.reset(ends[1]);
  }
  std::vector<std::string> received() const {
    std::vector<std::string> all;
    for (auto packet = receive_packet(far.get(), Wait::no); packet && !packet->empty();
         packet = receive_packet(far.get(), Wait::no)) {
      all.push_back(std::move(*packet));
    }
    return all;
  }
  UniqueFd near;
  UniqueFd far;
};

TEST_F(Pair, PassesMessagesOnInOrder) {
  Outbox outbox(near.get());
  outbox.send("one", Outbox::Urgency::now);
  outbox.send("two", Outbox::Urgency::soon);
  EXPECT_EQ(received(), (std::vector<std::string>{"one"}));
  outbox.send("three", Outbox::Urgency::soon);
  outbox.flush();
  EXPECT_EQ(received(), (std::vector<std::string>{"two", "three"}));
  EXPECT_FALSE(outbox.waiting());
}

TEST_F(Pair, NeverBlocksOnAnAgentThatDoesNotReadAndDropsTheOldestReadings) {
  Outbox outbox(near.get());
  const std::string filler(16 * 1024, 'x');
  while (!outbox.waiting()) {
    outbox.send(filler, Outbox::Urgency::soon);
    outbox.flush();
  }
  outbox.send("inventory", Outbox::Urgency::now);
  for (std::size_t sent = 0; sent < Outbox::capacity * 2; ++sent) {
    outbox.send("reading " + std::to_string(sent), Outbox::Urgency::soon);
  }
  EXPECT_GT(outbox.dropped(), Outbox::capacity / 2);

  std::vector<std::string> all = received();
  while (outbox.waiting()) {
    outbox.flush();
    for (std::string& packet : received()) all.push_back(std::move(packet));
  }
  EXPECT_EQ(std::ranges::count(all, "inventory"), 1);
  EXPECT_EQ(all.back(), "reading " + std::to_string(Outbox::capacity * 2 - 1));
}

TEST_F(Pair, CountsAMessageThatTheSocketWillNeverTakeAndGoesOn) {
  Outbox outbox(near.get());
  const int room = 4096;
  ASSERT_EQ(setsockopt(near.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)), 0);
  outbox.send(std::string(64 * 1024, 'x'), Outbox::Urgency::soon);
  outbox.send("two", Outbox::Urgency::now);
  EXPECT_EQ(outbox.dropped(), 1U);
  EXPECT_EQ(received(), (std::vector<std::string>{"two"}));
}

TEST_F(Pair, GivesUpQuietlyWhenTheAgentIsGone) {
  Outbox outbox(near.get());
  far.reset();
  outbox.send("one", Outbox::Urgency::now);
  EXPECT_FALSE(outbox.waiting());
}

TEST_F(Pair, TellsTheEndOfTheStreamByAnEmptyPacket) {
  near.reset();
  const auto end = receive_packet(far.get(), Wait::yes);
  ASSERT_TRUE(end.has_value());
  EXPECT_TRUE(end->empty());
}

}  // namespace
}  // namespace stoker::device::probe
