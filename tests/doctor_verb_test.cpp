// stoker doctor, end to end, on folders that are copies of nodes.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "doctor/tree_test_support.h"
#include "support/golden.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

namespace fs = std::filesystem;

// A tree as a folder. False where this user may make no device files.
bool unfold(const doctor::Tree& tree, const std::string& folder) {
  for (const auto& [path, entry] : tree.entries()) {
    const fs::path file = folder + path;
    fs::create_directories(file.parent_path());
    using Kind = doctor::Tree::Entry::Kind;
    if (entry.kind == Kind::link) {
      fs::create_symlink(entry.text, file);
    } else if (entry.kind == Kind::device) {
      const auto number = ::makedev(entry.facts.major, entry.facts.minor);
      if (::mknod(file.c_str(), S_IFCHR | 0600, number) != 0) return false;
      ::chmod(file.c_str(), entry.facts.mode);
    } else {
      std::ofstream(file, std::ios::binary) << entry.text;
    }
  }
  return true;
}

class DoctorVerb : public ::testing::Test {
 protected:
  void node(const std::string& name) {
    folder_.emplace();
    if (!unfold(doctor::Tree::load(name), folder_->path(""))) {
      GTEST_SKIP() << "this user may make no device files";
    }
  }
  Outcome doctor(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"doctor", "--root", folder_->path("")});
    return run_stoker(arguments);
  }
  std::optional<TempFolder> folder_;
};

TEST_F(DoctorVerb, IsSilentOnAHealthyNodeAndLetsItRestart) {
  node("healthy-hgx");
  const auto seen = doctor({"--all"});
  EXPECT_EQ(seen.status, 0) << seen.out << seen.err;
  expect_golden("cli/doctor_healthy.txt", seen.out);
  for (const auto* gate : {"--before-reboot", "--after-reboot"}) {
    const auto verdict = doctor({gate});
    EXPECT_EQ(verdict.status, 0) << verdict.out;
    EXPECT_NE(verdict.out.find("go: "), std::string::npos) << verdict.out;
  }
}

TEST_F(DoctorVerb, ShowsWhatIsWrongWithEvidenceAndRemedyAndDoesNotLetItRestart) {
  node("dkms-build-failed");
  const auto seen = doctor({});
  EXPECT_EQ(seen.status, 1) << seen.err;
  expect_golden("cli/doctor_dkms.txt", seen.out);
  const auto before = doctor({"--before-reboot", "-o", "json"});
  EXPECT_EQ(before.status, 1);
  EXPECT_NE(before.out.find("\"verdict\": \"no_go\""), std::string::npos) << before.out;
  // It runs now, and that is what --after-reboot asks.
  EXPECT_EQ(doctor({"--after-reboot"}).status, 0);
}

TEST_F(DoctorVerb, SaysUnknownWhereItCouldNotLook) {
  node("healthy-hgx");
  fs::remove_all(folder_->path("boot"));
  EXPECT_EQ(doctor({"--before-reboot"}).status, 2);
  EXPECT_EQ(doctor({}).status, 0);
  const TempFolder empty;
  EXPECT_EQ(run_stoker({"doctor", "--root", empty.path(""), "--only", "package-state"}).status, 2);
  EXPECT_EQ(run_stoker({"doctor", "--root", empty.path(""), "--after-reboot"}).status, 2);
  EXPECT_EQ(run_stoker({"doctor", "--root", empty.path("none")}).status, 2);
  EXPECT_EQ(run_stoker({"doctor", "--root", empty.path(""), "--as", "node"}).status, 2);
}

TEST_F(DoctorVerb, NeitherWaitsForAFifoNorTellsATerminalWhatAFileSays) {
  node("healthy-hgx");
  const std::string fifo = folder_->path("etc/docker/daemon.json");
  fs::remove(fifo);
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0644), 0);
  std::ofstream(folder_->path("etc/default/grub")) << "GRUB_DEFAULT=\x1b]0;title\x07\n";
  const auto told = doctor({"-o", "json"});
  EXPECT_NE(told.out.find("daemon.json is no regular file"), std::string::npos) << told.out;
  const auto seen = doctor({});
  EXPECT_EQ(seen.out.find_first_of("\x1b\x07"), std::string::npos) << seen.out;
}

TEST_F(DoctorVerb, KnowsItsChecksByName) {
  EXPECT_EQ(run_stoker({"doctor", "--list"}).status, 0);
  const auto explained = run_stoker({"doctor", "--explain", "fabric-manager"});
  EXPECT_EQ(explained.status, 0);
  EXPECT_NE(explained.out.find("802"), std::string::npos) << explained.out;
  const auto wrong = run_stoker({"doctor", "--only", "dkms-built"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("did you mean 'dkms-build'"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace stoker::test
