// Test support: the built program, run as somebody runs it.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace stoker::test {

// Times that a test promises are those of the product; under a sanitizer everything takes longer.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr int slowdown = 4;
#else
inline constexpr int slowdown = 1;
#endif
#else
inline constexpr int slowdown = 1;
#endif

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A folder that is gone when the test is over.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "stoker-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name = "") const {
    return (path_ / name).string();
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

// One run of bin/stoker. Standard output and error go to files; nothing of this process's STOKER_...
// environment reaches it.
class StokerProcess {
 public:
  explicit StokerProcess(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& environment = {})
      : out_(files_.path("out")), err_(files_.path("err")) {
    std::vector<std::string> argv = {STOKER_BINARY_DIR "/bin/stoker"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    std::vector<std::string> envp = environment;
    envp.insert(envp.end(), {"PATH=/usr/bin:/bin", "HOME=" + files_.path()});
    for (const char* kept : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
      if (const char* value = std::getenv(kept)) envp.push_back(std::string(kept) + "=" + value);
    }
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_.c_str(), O_WRONLY | O_CREAT,
                                     0644);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_.c_str(), O_WRONLY | O_CREAT,
                                     0644);
    if (posix_spawn(&pid_, argv.front().c_str(), &actions, nullptr, pointers(argv).data(),
                    pointers(envp).data()) != 0) {
      pid_ = -1;
    }
    posix_spawn_file_actions_destroy(&actions);
  }
  ~StokerProcess() {
    if (pid_ <= 0 || status_) return;
    signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  StokerProcess(const StokerProcess&) = delete;
  StokerProcess& operator=(const StokerProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::string out() const { return read_text(out_); }
  [[nodiscard]] std::string err() const { return read_text(err_); }
  void signal(int number) const { ::kill(pid_, number); }

  // Its exit status; nullopt if it does not end within `limit`, -1 if a signal ended it.
  std::optional<int> wait(std::chrono::milliseconds limit = std::chrono::seconds(30)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!status_) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      } else if (std::chrono::steady_clock::now() > deadline) {
        return std::nullopt;
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
    return status_;
  }

  // Of `stoker up`: the URL of its "ready ..." line; "" if it ends or `limit` passes before.
  std::string wait_ready(std::chrono::milliseconds limit = std::chrono::seconds(30)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < deadline) {
      const std::string text = out();
      if (text.rfind("ready ", 0) == 0 && text.ends_with('\n'))
        return text.substr(6, text.size() - 7);
      if (wait(std::chrono::milliseconds(0))) return "";
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return "";
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  }

  TempFolder files_;
  const std::string out_;
  const std::string err_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

// Runs to its end.
inline Outcome run_stoker(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& environment = {}) {
  StokerProcess process(arguments, environment);
  const int status = process.wait().value_or(-1);
  return {status, process.out(), process.err()};
}

// Runs it over and over until it prints `text`, or time is up. What it printed last.
inline std::string run_until(const std::vector<std::string>& arguments, const std::string& text) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30 * slowdown);
  std::string out;
  do {
    out = run_stoker(arguments).out;
  } while (out.find(text) == std::string::npos && std::chrono::steady_clock::now() < until);
  return out;
}

}  // namespace stoker::test
