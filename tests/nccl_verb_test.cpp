// stoker nccl, end to end: captured runs as a table and as data, a folder, standard input, and what can't be read.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "support/golden.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

namespace fs = std::filesystem;
const std::string captures = STOKER_SOURCE_DIR "/tests/fixtures/captures/";

TEST(NcclVerb, PrintsVerdictRanksEvidenceAndNextStep) {
  // Lines are wrapped with the file's name in them, which has to be as long wherever the sources are.
  fs::current_path(captures);
  const auto table = run_stoker({"nccl", "h200x4/nccl-die.txt"});
  EXPECT_EQ(table.status, 1) << table.err;
  expect_golden("cli/nccl_die.txt", table.out);
  const auto json = run_stoker({"nccl", "h200x4/nccl-die.txt", "-o", "json"});
  EXPECT_EQ(json.status, 1);
  expect_golden("cli/nccl_die.json", json.out);
}

TEST(NcclVerb, WalksAFolderAndGivesEachJobItsVerdict) {
  const auto all = run_stoker({"nccl", captures + "h200x4", captures + "h200x2-hang"});
  EXPECT_EQ(all.status, 1) << all.err;
  for (const auto* verdict :
       {"Job 5 of 5", "dead-rank (certain)  rank 3", "missing-rank (certain)  rank 3",
        "collective-mismatch (certain)  rank 3", "healthy (certain)",
        "missing-rank (likely)  rank 1"}) {
    EXPECT_NE(all.out.find(verdict), std::string::npos) << verdict << '\n' << all.out;
  }
}

TEST(NcclVerb, SaysByItsExitCodeWhetherTheJobIsHealthyAndAllWasRead) {
  EXPECT_EQ(run_stoker({"nccl", captures + "h200x4/nccl-ok.txt"}).status, 0);
  const auto missing = run_stoker({"nccl", captures + "h200x4/nccl-die.txt", "/no/such/file"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("/no/such/file"), std::string::npos) << missing.err;
  EXPECT_NE(missing.out.find("dead-rank"), std::string::npos) << "the other file is still judged";
  EXPECT_EQ(run_stoker({"nccl"}).status, 2);
}

TEST(NcclVerb, RefusesADumpThatWouldRunCode) {
  const fs::path folder = fs::path(testing::TempDir()) / "nccl_verb";
  fs::create_directories(folder);
  std::ofstream(folder / "trace_0") << std::string(
                                           "\x80\x02"
                                           "cos\nsystem\n(S'true'\ntR.",
                                           24)
                                    << std::string(100, '.');
  const auto refused = run_stoker({"nccl", folder.string()});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("GLOBAL"), std::string::npos) << refused.err;
  fs::remove_all(folder);
}

// A RAS port as NCCL 2.28.9 has it, that gives each client the captured answer.
class RasServer {
 public:
  explicit RasServer(std::string answer)
      : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 4), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~RasServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  RasServer(const RasServer&) = delete;
  RasServer& operator=(const RasServer&) = delete;
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  void serve() const {
    while (true) {
      const int client = ::accept(listener_, nullptr, nullptr);
      if (client < 0) return;
      std::string asked;
      char byte = 0;
      while (::recv(client, &byte, 1, 0) == 1) {
        asked += byte;
        if (byte != '\n') continue;
        const std::string reply = asked == "CLIENT PROTOCOL 2\n" ? "SERVER PROTOCOL 2\n"
                                  : asked == "SET FORMAT json\n" ? "OK\n"
                                                                 : answer_;
        ::send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
        if (asked == "VERBOSE STATUS\n") break;
        asked.clear();
      }
      ::close(client);
    }
  }

  const std::string answer_;
  const int listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

TEST(NcclVerb, AsksTheRasPortOfARunningJobTwice) {
  const auto captured = read_text(captures + "h200x2-hang/nccl-ras-hang.txt");
  const auto begin = captured.find("\n{") + 1;
  const RasServer server(captured.substr(begin, captured.find("\n}\n", begin) + 3 - begin));
  const auto asked = run_stoker({"nccl", "--ras", server.address(), "--wait", "0.1"});
  EXPECT_EQ(asked.status, 1) << asked.err;
  EXPECT_NE(asked.out.find("missing-rank (likely)  rank 1  on 192.0.2.2"), std::string::npos)
      << asked.out;
}

TEST(NcclVerb, SaysWhenNoRasPortAnswers) {
  const auto none = run_stoker({"nccl", "--ras", "127.0.0.1:1"});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("127.0.0.1:1"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace stoker::test
