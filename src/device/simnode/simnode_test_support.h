// For tests: a simulated node in a folder of its own, and looks into what lies there.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "device/sim/state_file.h"
#include "device/simnode/files.h"
#include "device/simnode/sim_node.h"

namespace stoker::simnode {

class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "simnode-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TestFolder() { remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(write_file(path_ + "/" + name, text));
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

class SimNodeTest : public testing::Test {
 protected:
  void make(const std::string& profile) {
    auto made = SimNode::create({.profile = profile}, folder_.path());
    ASSERT_TRUE(made) << made.error().describe();
    node_.emplace(std::move(*made));
  }

  // The same with no process on any GPU, whatever the profile's loads are, and as cool as if none had ever run.
  void make_idle(const std::string& profile) {
    make(profile);
    ASSERT_TRUE(node_->set_load("idle", "all"));
    auto file = sim::StateFile::open(node_->state_file(), sim::StateFile::Access::write);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write([](sim::State& state) {
      for (sim::Gpu& one : state.gpus) {
        one.load.start_temperature_mc = one.envelope.idle_temperature_c * 1000;
      }
    }));
  }

  // What inject() answers, or "refused: ..." with the message.
  std::string inject(const FaultRequest& fault) {
    const auto outcome = node_->inject(fault);
    return outcome ? *outcome : "refused: " + outcome.error().message();
  }

  // A copy of the state as a library would see it.
  [[nodiscard]] std::unique_ptr<sim::State> state() const {
    auto file = sim::StateFile::open(node_->state_file(), sim::StateFile::Access::read);
    EXPECT_TRUE(file);
    auto copy = std::make_unique<sim::State>();
    file->read([&](const sim::State& shown) {
      *copy = shown;
      return 0;
    });
    return copy;
  }
  [[nodiscard]] sim::Gpu gpu(unsigned row) const { return state()->gpus[row]; }

  // Texts of the kernel log, without the two lines of loading the driver.
  [[nodiscard]] std::vector<std::string> kernel() const {
    const std::string content = read_file(node_->root() + "/dev/kmsg").value_or("");
    std::vector<std::string> texts;
    std::size_t begin = 0;
    while (begin < content.size()) {
      const auto end = content.find('\n', begin);
      const std::string line = content.substr(begin, end - begin);
      texts.push_back(line.substr(line.find(';') + 1));
      begin = end + 1;
    }
    texts.erase(texts.begin(), texts.begin() + 2);
    return texts;
  }

  [[nodiscard]] std::string root_file(const std::string& path) const {
    return read_file(node_->root() + path).value_or("(none)");
  }

  TestFolder folder_;
  std::optional<SimNode> node_;
};

}  // namespace stoker::simnode
