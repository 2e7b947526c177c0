#include "job_inquiry.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace stoker::app {
namespace {

constexpr const char* uuid = "GPU-00000000-0000-4000-8000-000000000001";

// One card on which one process runs, and what the checks find about it.
class Node {
 public:
  JobInquiryParts parts(std::string script) {
    JobInquiryParts parts{.clock = clock,
                          .found = [this] { return found(); },
                          .snapshot = [] { return picture(); },
                          .tell = [this](JobWord word) { heard(std::move(word)); }};
    parts.program = "/bin/sh";
    parts.arguments = {"-c", std::move(script)};
    return parts;
  }
  void find(const std::string& rule) {
    const std::scoped_lock lock(mutex_);
    found_ = {Finding{.rule = rule, .entity = {EntityKind::gpu, uuid}}};
  }
  // The `count`th word; what there is, where it does not come in time.
  std::vector<JobWord> words(std::size_t count, std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, time, [&] { return words_.size() >= count; });
    return words_;
  }

  ManualClock clock;

 private:
  static store::Snapshot picture() {
    store::Snapshot snapshot;
    auto& gpu = snapshot.gpus.emplace_back();
    gpu.info.uuid = uuid;
    gpu.processes.push_back({.pid = 4711});
    return snapshot;
  }
  std::vector<Finding> found() {
    const std::scoped_lock lock(mutex_);
    return found_;
  }
  void heard(JobWord word) {
    const std::scoped_lock lock(mutex_);
    words_.push_back(std::move(word));
    came_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Finding> found_;
  std::vector<JobWord> words_;
};

constexpr const char* says_missing =
    R"(printf 'class\tmissing-rank' >&3; printf 'confidence\tlikely' >&3; printf 'summary\trank 3 is missing' >&3;
printf "line\tasked about $1" >&3)";

TEST(JobInquiry, AsksOnceWhenAJobLooksHungAndAgainAfterSomeMinutes) {
  Node node;
  JobInquiry inquiry(node.parts(says_missing));
  inquiry.start();
  EXPECT_TRUE(node.words(1, std::chrono::milliseconds(1200)).empty());
  node.find("job-hung");
  auto words = node.words(1, std::chrono::seconds(10));
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(words[0].verdict, "missing-rank");
  EXPECT_TRUE(words[0].blames);
  EXPECT_EQ(words[0].lines, std::vector<std::string>{"asked about 4711"});
  EXPECT_EQ(words[0].pids, std::vector<std::uint32_t>{4711});
  EXPECT_EQ(words[0].job, uuid) << "whose it is is not known: this card's";
  EXPECT_EQ(words[0].cards, (std::vector<Entity>{{EntityKind::gpu, uuid}}));
  EXPECT_EQ(node.words(2, std::chrono::milliseconds(1500)).size(), 1U);
  node.clock.advance(Seconds(301));
  EXPECT_EQ(node.words(2, std::chrono::seconds(10)).size(), 2U);
}

TEST(JobInquiry, AsksNoMoreOftenOfWhatComesAndGoesOrIsFoundInTwoWays) {
  Node node;
  JobInquiry inquiry(node.parts(says_missing));
  node.find("job-suspect");
  inquiry.start();
  ASSERT_EQ(node.words(1, std::chrono::seconds(10)).size(), 1U);
  node.find("nothing-of-a-job");
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  node.find("job-hung");
  EXPECT_EQ(node.words(2, std::chrono::milliseconds(1500)).size(), 1U);
  node.clock.advance(Seconds(301));
  EXPECT_EQ(node.words(2, std::chrono::seconds(10)).size(), 2U);
}

TEST(JobInquiry, GivesUpAChildThatDoesNotEnd) {
  Node node;
  auto parts = node.parts(
      R"(printf 'class\tmissing-rank' >&3; printf 'confidence\tcertain' >&3; exec sleep 100)");
  parts.limit = Seconds(5);
  JobInquiry inquiry(std::move(parts));
  node.find("job-suspect");
  inquiry.start();
  // Until it has been started, and no longer.
  for (int i = 0; i < 100 && node.words(1, std::chrono::milliseconds(100)).empty(); ++i)
    node.clock.advance(Seconds(1));
  const auto words = node.words(1, std::chrono::milliseconds(0));
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(words[0].verdict, "") << "what came without an end is no verdict";
  EXPECT_FALSE(words[0].blames);
  EXPECT_NE(words[0].lines.at(0).find("took longer than 5 s"), std::string::npos)
      << words[0].lines.at(0);
}

TEST(JobInquiry, SaysThatAChildToldNothingOrTooMuch) {
  for (const auto& [script, why] : std::vector<std::pair<std::string, std::string>>{
           {"exit 3", "it told nothing"},
           {"i=0; while [ $i -lt 100 ]; do printf 'line\\tx' >&3; i=$((i+1)); done", "too much"}}) {
    Node node;
    JobInquiry inquiry(node.parts(script));
    node.find("job-hung");
    inquiry.start();
    const auto words = node.words(1, std::chrono::seconds(10));
    ASSERT_EQ(words.size(), 1U);
    EXPECT_EQ(words[0].verdict, "");
    EXPECT_NE(words[0].lines.at(0).find(why), std::string::npos) << words[0].lines.at(0);
  }
}

TEST(JobInquiry, EndsWithItsChildWhenTheAgentEnds) {
  Node node;
  JobInquiry inquiry(node.parts("exec sleep 100"));
  node.find("job-hung");
  inquiry.start();
  EXPECT_TRUE(node.words(1, std::chrono::milliseconds(1200)).empty());
  const auto began = std::chrono::steady_clock::now();
  inquiry.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

}  // namespace
}  // namespace stoker::app
