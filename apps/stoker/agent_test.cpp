// The agent, put together with a source of its own instead of a probe.
#include "agent.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "net/http_client.h"
#include "os/system_env.h"

namespace stoker::app {
namespace {

using config::OptionId;
using device::SourceState;

// Tells one card when it is started, and what else a test wants.
class FakeSource final : public device::Source {
 public:
  explicit FakeSource(device::Listener** listener) : listener_(listener) {}
  void start(device::Listener& listener) override {
    *listener_ = &listener;
    listener.on_status({.state = SourceState::running, .since = system_clock().monotonic()});
    device::GpuInfo card;
    card.pci = {0, 0x3b, 0, 0};
    card.uuid = "GPU-fake";
    card.name = "Fake";
    listener.on_inventory({card});
  }
  void stop() override { *listener_ = nullptr; }
  void release() override {}
  void resume() override {}

 private:
  device::Listener** listener_;
};

class AgentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "stoker-agent-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    settings_.set(OptionId::listen, std::string("127.0.0.1:0"), {});
    settings_.set(OptionId::data, (folder_ / "data").string(), {});
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<std::unique_ptr<Agent>> start() {
    return Agent::start(settings_, [this](const config::Settings&, const std::string&) {
      return Result<SourceParts>(SourceParts{.source = std::make_unique<FakeSource>(&listener_),
                                             .env = os::make_system_env()});
    });
  }

  std::filesystem::path folder_;
  config::Settings settings_;
  device::Listener* listener_ = nullptr;
};

TEST_F(AgentTest, ServesWhatItsSourceTells) {
  const auto agent = start();
  ASSERT_TRUE(agent) << agent.error().describe();
  EXPECT_EQ((*agent)->status().state, SourceState::running);
  EXPECT_FALSE((*agent)->has_readings());
  const auto now = system_clock().monotonic();
  listener_->on_readings({0, 0x3b, 0, 0}, {{{}, FieldId::power, Reading::of(321.5, now)}});
  EXPECT_TRUE((*agent)->has_readings());
  (*agent)->serve();
  const auto gpus = net::http_get("http://" + (*agent)->address() + "/api/v1/gpus/GPU-fake");
  ASSERT_TRUE(gpus) << gpus.error().describe();
  EXPECT_NE(gpus->body.find("\"power_watts\":321.5"), std::string::npos) << gpus->body;
}

TEST_F(AgentTest, StopsItsSourceBeforeItIsGone) {
  {
    const auto agent = start();
  }
  EXPECT_EQ(listener_, nullptr);
}

TEST_F(AgentTest, KeepsTheNodesReadingsComing) {
  const auto agent = start();
  ASSERT_TRUE(agent);
  (*agent)->serve();
  std::string status;
  const auto deadline = system_clock().monotonic() + Seconds(10);
  while (status.find("\"memory_total_host_bytes\":null") != std::string::npos || status.empty()) {
    ASSERT_LT(system_clock().monotonic(), deadline);
    status = net::http_get("http://" + (*agent)->address() + "/api/v1/status")->body;
  }
  EXPECT_NE(status.find("\"memory_total_host_bytes\":"), std::string::npos);
}

TEST_F(AgentTest, WhatFailsLeavesTheAddressAndTheFolderFree) {
  const auto refused = Agent::start(settings_, [](const config::Settings&, const std::string&) {
    return Result<SourceParts>(fail(ErrorCode::not_found, "no such node"));
  });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "no such node");
  EXPECT_TRUE(start());
}

TEST(DataFolder, IsOursNoMoreOnceItWasRemovedEvenIfAnotherAgentMadeItAnew) {
  std::string name = ::testing::TempDir() + "stoker-data-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(name.data());
  const auto first = DataFolder::take((folder / "a").string());
  ASSERT_TRUE(first && first->still_ours());
  std::filesystem::remove_all(folder / "a");
  EXPECT_FALSE(first->still_ours());
  const auto second = DataFolder::take((folder / "a").string());
  ASSERT_TRUE(second && second->still_ours());
  EXPECT_FALSE(first->still_ours());
  std::filesystem::remove_all(folder);
}

TEST(DataFolder, IsHeldByOneAtATime) {
  std::string name = ::testing::TempDir() + "stoker-data-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(name.data());
  {
    const auto first = DataFolder::take((folder / "a/b").string());
    ASSERT_TRUE(first) << first.error().describe();
    EXPECT_EQ(first->path(), (folder / "a/b").string());
    const auto second = DataFolder::take((folder / "a/b").string());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), ErrorCode::unavailable);
    EXPECT_NE(second.error().message().find("pid " + std::to_string(::getpid())),
              std::string::npos);
  }
  EXPECT_TRUE(DataFolder::take((folder / "a/b").string()));
  const auto file = DataFolder::take("/proc/version/x");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message().find("--data DIR"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stoker::app
