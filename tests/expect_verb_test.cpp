// stoker expect, end to end: written from what is there, taken over by the running agent, and what goes
// missing afterwards is said by status.
#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

class ExpectVerb : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = folder_.write("stoker.yaml", "# mine\nlisten: 127.0.0.1:0\n\nlog: {level: info}\n");
    agent_.emplace(std::vector<std::string>{"up", "--sim", "hgx-h100", "--config", file_, "--data",
                                            folder_.path("data")});
    url_ = agent_->wait_ready();
    ASSERT_NE(url_, "") << agent_->err();
  }
  Outcome ask(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--agent", url_});
    return run_stoker(arguments);
  }
  // Asks until `wanted` is in the answer.
  Outcome ask_until(const std::string& wanted, const std::vector<std::string>& arguments) const {
    const auto deadline = steady_clock::now() + seconds(40);
    Outcome outcome = ask(arguments);
    while (outcome.out.find(wanted) == std::string::npos && steady_clock::now() < deadline) {
      std::this_thread::sleep_for(milliseconds(100));
      outcome = ask(arguments);
    }
    EXPECT_NE(outcome.out.find(wanted), std::string::npos) << outcome.out << outcome.err;
    return outcome;
  }
  void inject(std::vector<std::string> fault) const {
    fault.insert(fault.begin(), {"sim", "inject", "--data", folder_.path("data")});
    const auto outcome = run_stoker(fault);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }

  TempFolder folder_;
  std::string file_;
  std::optional<StokerProcess> agent_;
  std::string url_;
};

TEST_F(ExpectVerb, WritesWhatIsThereAndStatusSaysWhatGoesMissing) {
  const auto before = ask_until("expect.nvlinks          -         18", {"expect"});
  EXPECT_EQ(before.status, 0);
  expect_golden("cli/expect.txt", before.out);
  const auto wrote = ask({"expect", "--write", file_});
  EXPECT_EQ(wrote.status, 0) << wrote.err;
  expect_golden("cli/expect_written.yaml", read_text(file_));

  agent_->signal(SIGHUP);
  const auto met = ask_until("expect.gpus             8                       8", {"expect"});
  EXPECT_EQ(met.status, 0) << met.out;
  EXPECT_EQ(met.out.find("differs"), std::string::npos) << met.out;

  inject({"nvlink-down", "--gpu", "2", "--link", "3"});
  inject({"vanish", "--gpu", "5"});
  const auto status = ask_until("expected-nvlinks", {"status"});
  EXPECT_NE(status.out.find("seen    GPU 2 (0000:52:00.0): 17\n"), std::string::npos) << status.out;
  ask_until("expect.gpus: expected 8, 7 answer", {"expect"});
  EXPECT_EQ(ask({"expect"}).status, 1);

  const auto refused = ask({"expect", "--write", file_});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("expect.gpus: GPU 5 (0000:c3:00.0) is lost\n"), std::string::npos)
      << refused.err;
  expect_golden("cli/expect_written.yaml", read_text(file_));
}

TEST_F(ExpectVerb, LeavesAFileAloneThatIsNoConfig) {
  ask_until("expect.nvlinks          -         18", {"expect"});
  const auto notes = folder_.write("notes.txt", "lisen: 127.0.0.1:0\n");
  const auto outcome = ask({"expect", "--write", notes});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("nothing was written"), std::string::npos) << outcome.err;
  EXPECT_EQ(read_text(notes), "lisen: 127.0.0.1:0\n");
}

}  // namespace
}  // namespace stoker::test
