// Test support: a machine that answers, but for some of its files.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/env.h"

namespace stoker::sample {

// Whoever opens or lists what has `word` in its path waits until let_go().
class HangingEnv final : public os::Env {
 public:
  HangingEnv(std::shared_ptr<const os::Env> env, std::string word)
      : env_(std::move(env)), word_(std::move(word)) {}
  void let_go() {
    hangs_ = false;
    hangs_.notify_all();
  }

  Result<UniqueFd> open(std::string_view path, int flags) const override {
    wait(path);
    return env_->open(path, flags);
  }
  const Clock& clock() const override { return env_->clock(); }
  Result<std::string> read_file(std::string_view path, std::size_t limit) const override {
    wait(path);
    return env_->read_file(path, limit);
  }
  Result<std::vector<std::string>> list_folder(std::string_view path) const override {
    wait(path);
    return env_->list_folder(path);
  }
  Result<std::string> read_link(std::string_view path) const override {
    return env_->read_link(path);
  }
  bool exists(std::string_view path) const override { return env_->exists(path); }
  Result<os::FilesystemUse> filesystem(std::string_view path) const override {
    return env_->filesystem(path);
  }
  Result<os::FilesystemUse> own_filesystem(const std::string& path) const override {
    return env_->own_filesystem(path);
  }
  std::string hostname() const override { return env_->hostname(); }
  std::string real_path(std::string_view path) const override { return env_->real_path(path); }

 private:
  void wait(std::string_view path) const {
    if (path.find(word_) != std::string_view::npos) hangs_.wait(true);
  }

  const std::shared_ptr<const os::Env> env_;
  const std::string word_;
  mutable std::atomic<bool> hangs_ = true;
};

}  // namespace stoker::sample
