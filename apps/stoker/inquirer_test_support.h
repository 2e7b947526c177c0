// Test support: a job's processes as /proc shows them, a RAS port that says what a test wants, and the inquirer run as the
// agent runs it, in a process of its own.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "device/probe/packet.h"
#include "inquirer.h"
#include "inquirer_words.h"

namespace stoker::app {

// A folder with the simulated processes 4200000 to 4200003 of one job, and the files of their user.
class FakeJob {
 public:
  static constexpr std::uint32_t first_pid = 4'200'000;
  static constexpr std::uint32_t ranks = 4;

  FakeJob() {
    std::string name = (std::filesystem::temp_directory_path() / "stoker-job-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) set_environment(rank, {});
  }
  ~FakeJob() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  FakeJob(const FakeJob&) = delete;
  FakeJob& operator=(const FakeJob&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  // Root tests what root alone can: a user whose rights it has to take.
  static std::uint32_t uid() { return ::geteuid() == 0 ? 51001 : ::geteuid(); }

  void set_environment(std::uint32_t rank, const std::vector<std::string>& variables) const {
    const auto at = fmt::format("proc/{}/", first_pid + rank);
    put(at + "stat", fmt::format("{} (python3) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0\n",
                                 first_pid + rank));
    put(at + "status",
        fmt::format("Name:\tpython3\nUid:\t{0}\t{0}\t{0}\t{0}\nGid:\t{0}\t{0}\t{0}\t{0}\n", uid()));
    put(at + "cgroup", "0::/\n");
    std::string all = fmt::format("RANK={}", rank);
    for (const auto& each : variables) all += '\0' + each;
    put(at + "environ", all);
  }
  // A file of the job's user.
  std::string write(const std::string& name, const std::string& content) const {
    put(name, content);
    if (::geteuid() == 0) {
      EXPECT_EQ(::chown(path(name).c_str(), uid(), uid()), 0);
    }
    return path(name);
  }

  // What the agent hears.
  [[nodiscard]] JobWord ask(std::vector<std::string> logs = {}, double ras_timeout = 5) const {
    InquirerOptions options{.device_root = folder_.string(), .logs = std::move(logs), .pids = {}};
    for (std::uint32_t rank = 0; rank < ranks; ++rank) options.pids.push_back(first_pid + rank);
    options.ras_timeout_seconds = ras_timeout;
    options.ras_wait_seconds = 0.01;
    return run(options);
  }

  static JobWord run(const InquirerOptions& options) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    UniqueFd ours(ends[0]);
    UniqueFd theirs(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) {
      ours.reset();
      ::_exit(run_inquirer(options, theirs.get()));
    }
    theirs.reset();
    JobWord word;
    while (true) {
      const auto packet = device::probe::receive_packet(ours.get(), device::probe::Wait::yes);
      if (!packet || packet->empty()) break;
      take_packet(*packet, word);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return word;
  }

 private:
  void put(const std::string& name, const std::string& content) const {
    const auto file = folder_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
  }

  std::filesystem::path folder_;
};

inline std::string text_of(const JobWord& word) {
  std::string all;
  for (const auto& line : word.lines) all += line + '\n';
  return all;
}

// Gives each connection to `answer`, in a thread of its own.
class FakePort {
 public:
  // `uid`: whose it is, where the test is root.
  explicit FakePort(std::function<void(int)> answer, std::uint32_t uid = FakeJob::uid())
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the sockets API
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (::bind(fd_.get(), plain, size) != 0 || ::listen(fd_.get(), 8) != 0) std::abort();
    if (::geteuid() == 0 && ::fchown(fd_.get(), uid, uid) != 0) std::abort();
    ::getsockname(fd_.get(), plain, &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer = std::move(answer)] {
      while (true) {
        const UniqueFd one(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!one.valid()) return;
        answer(one.get());
      }
    });
  }
  ~FakePort() {
    ::shutdown(fd_.get(), SHUT_RDWR);
    thread_.join();
  }
  FakePort(const FakePort&) = delete;
  FakePort& operator=(const FakePort&) = delete;
  [[nodiscard]] std::string variable() const {
    return fmt::format("NCCL_RAS_ADDR=127.0.0.1:{}", port_);
  }

 private:
  UniqueFd fd_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

// The port of a RAS whose state is `json`, as NCCL 2.28.7 and later speak.
inline std::function<void(int)> ras_that_says(std::string json) {
  return [json = std::move(json)](int fd) {
    std::string held;
    char piece[256];
    while (held.find("VERBOSE STATUS\n") == std::string::npos) {
      const auto got = ::recv(fd, piece, sizeof piece, 0);
      if (got <= 0) return;
      const bool greeted = held.find('\n') != std::string::npos;
      held.append(piece, static_cast<std::size_t>(got));
      const std::string_view said = greeted ? "OK\n" : "SERVER PROTOCOL 2\n";
      if (held.find("VERBOSE STATUS\n") == std::string::npos)
        ::send(fd, said.data(), said.size(), MSG_NOSIGNAL);
    }
    ::send(fd, json.data(), json.size(), MSG_NOSIGNAL);
  };
}

// What RAS says of four ranks, by how many all-reduces each has called; shaped as the captured answer
// (tests/fixtures/captures/h200x2-hang).
inline std::string ras_json(const std::vector<int>& counts, std::uint32_t first_pid,
                            const std::string& host = "192.0.2.2") {
  std::string ranks;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    ranks += fmt::format(
        R"({}{{"rank": {}, "host": "{}", "pid": {}, "status": {{"async_error": 0}}, "collective_counts": {{"AllReduce": {}}}}})",
        rank == 0 ? "" : ", ", rank, host, first_pid + rank, counts[rank]);
  }
  return fmt::format(
      "{{\n\"nccl_version\": \"2.28.9\", \"communicators\": [{{\"hash\": \"0xd94ee3f5c044281\", "
      "\"size\": {}, "
      "\"ranks\": [{}], \"missing_ranks\": []}}], \"ras\": {{\"timeouts_count\": 0}}\n}}\n",
      counts.size(), ranks);
}

}  // namespace stoker::app
