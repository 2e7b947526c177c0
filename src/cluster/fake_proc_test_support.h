// For tests: a folder that is a host's /proc, with the processes that a test puts there.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "os/system_env.h"

namespace stoker::cluster {

class FakeProc {
 public:
  FakeProc() {
    std::string name = (std::filesystem::temp_directory_path() / "stoker-proc-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
    env_ = os::make_system_env(name, name + "/devices");
    put("proc/self/ns/", "");
    std::filesystem::create_symlink("pid:[4026531836]", folder_ / "proc/self/ns/pid");
    put("proc/uptime", "1000000.00 0.00\n");
    put("proc/1/stat", stat(1, 1));
  }
  ~FakeProc() { std::filesystem::remove_all(folder_); }
  FakeProc(const FakeProc&) = delete;
  FakeProc& operator=(const FakeProc&) = delete;

  [[nodiscard]] const os::Env& env() const { return *env_; }

  // A process of user 1000, who is called ada, that began `start_ticks` after boot: before everything
  // that a test does, unless it says otherwise (now is a million seconds after boot).
  void add(std::uint32_t pid, const std::string& cgroup, std::uint64_t start_ticks = 1000) const {
    const std::string at =
        (pid > os::pid_max_limit ? "devices/proc/" : "proc/") + std::to_string(pid) + "/";
    put(at + "stat", stat(pid, start_ticks));
    put(at + "status", "Name:\tx\nUid:\t1000\t1000\t1000\t1000\n");
    put(at + "cgroup", "0::" + cgroup + "\n");
    put(at + "environ", "");
    put("etc/passwd", "ada:x:1000:1000::/:/bin/sh\n");
  }
  void remove(std::uint32_t pid) const {
    std::filesystem::remove_all(folder_ / "proc" / std::to_string(pid));
  }
  // "A=1\0B=2\0" with ; for the zeroes.
  void set_environment(std::uint32_t pid, std::string text) const {
    std::replace(text.begin(), text.end(), ';', '\0');
    put("proc/" + std::to_string(pid) + "/environ", text);
  }
  // Its children are not listed, as by a kernel without CONFIG_PROC_CHILDREN.
  void hide_children(std::uint32_t pid) const {
    put("proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/", "");
  }
  // As inside a container: `own` is what the namespace of this process is called.
  void move_to_pid_namespace(const std::string& own) const {
    std::filesystem::remove(folder_ / "proc/self/ns/pid");
    std::filesystem::create_symlink(own, folder_ / "proc/self/ns/pid");
  }
  void hide_others() const { std::filesystem::remove_all(folder_ / "proc/1"); }

 private:
  static std::string stat(std::uint32_t pid, std::uint64_t start_ticks) {
    return std::to_string(pid) + " (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " +
           std::to_string(start_ticks) + " 0 0\n";
  }
  void put(const std::string& path, const std::string& content) const {
    const auto file = folder_ / path;
    std::filesystem::create_directories(file.parent_path());
    if (file.has_filename()) std::ofstream(file, std::ios::binary) << content;
  }

  std::filesystem::path folder_;
  std::unique_ptr<os::Env> env_;
};

}  // namespace stoker::cluster
