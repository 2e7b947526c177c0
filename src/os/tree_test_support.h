// For tests and benches: a folder that stands for this machine's files, and goes with its owner.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "os/system_env.h"

namespace stoker::os {

class Tree {
 public:
  Tree() {
    std::string name = (std::filesystem::temp_directory_path() / "stoker-tree-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    root_ = name;
    env_ = make_system_env(root_.string(), root_.string());
  }
  ~Tree() { std::filesystem::remove_all(root_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  // A file of one line, with the folders above it: "sys/class/net/eth0/mtu".
  void put(const std::string& path, const std::string& line) const {
    const auto file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << line << '\n';
  }

 protected:
  std::filesystem::path root_;
  std::unique_ptr<Env> env_;
};

}  // namespace stoker::os
