// Every tree of tests/doctor-trees, one trap each, and the healthy machines beside them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "doctor/check.h"
#include "doctor/report.h"
#include "doctor/tree_test_support.h"

namespace stoker::doctor {
namespace {

Context context_of(const Tree& tree) {
  Context context;
  context.node_name = "node";
  context.in_container = tree.head("container") == "yes";
  context.is_live = true;
  const std::string mig = tree.head("mig");
  context.cards.push_back({"GPU 0", "disabled", mig.empty() ? "disabled" : mig, ""});
  return context;
}

std::vector<CheckResult> examine_all(const Tree& tree) {
  return examine(tree, context_of(tree), [](const CheckRow&) { return true; });
}

std::vector<CheckResult> examine_before_a_restart(const Tree& tree) {
  Context context = context_of(tree);
  context.gate = Gate::before;
  return examine(tree, context, [](const CheckRow& row) {
    return row.gate == Gate::before || row.gate == Gate::both;
  });
}

// "rule severity: message" of each finding, in order.
std::string told(const std::vector<CheckResult>& results) {
  std::string text;
  for (const auto& result : results) {
    for (const auto& finding : result.findings) {
      text += finding.rule + " " + to_string(finding.severity) + ": " + finding.message + "\n";
    }
  }
  return text;
}

std::vector<std::string> tree_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(STOKER_SOURCE_DIR) / "tests/doctor-trees")) {
    if (entry.path().extension() == ".tree") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class DoctorTree : public testing::TestWithParam<std::string> {};

TEST_P(DoctorTree, HasTheFindingsThatItsHeadNamesAndNoOthers) {
  const Tree tree = Tree::load(GetParam());
  std::string expected = tree.head("found");
  std::vector<std::string> rules;
  for (const auto& result : examine_all(tree)) {
    if (!result.findings.empty()) rules.emplace_back(result.row->id);
  }
  std::string got;
  for (const auto& rule : rules) got += (got.empty() ? "" : " ") + rule;
  EXPECT_EQ(got, expected == "nothing" ? "" : expected) << told(examine_all(tree));
}

TEST_P(DoctorTree, MayRestartOrNotAsItsHeadSays) {
  const Tree tree = Tree::load(GetParam());
  if (tree.head("before").empty()) return;
  const auto results = examine_before_a_restart(tree);
  std::string unread;
  for (const auto& result : results) {
    for (const auto& line : result.not_looked) unread += line + "\n";
  }
  EXPECT_EQ(to_string(verdict_of(results)), tree.head("before")) << told(results) << unread;
}

TEST_P(DoctorTree, ShowsItsEvidenceAndItsSource) {
  for (const auto& result : examine_all(Tree::load(GetParam()))) {
    for (const auto& finding : result.findings) {
      EXPECT_FALSE(finding.evidence.empty()) << finding.rule;
      EXPECT_FALSE(finding.fix.empty()) << finding.rule;
      EXPECT_TRUE(finding.source.starts_with("https://")) << finding.rule;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DoctorTree, testing::ValuesIn(tree_names()), [](const auto& name) {
  std::string word = name.param;
  std::ranges::replace(word, '-', '_');
  return word;
});

TEST(DoctorTrees, LookAtEverythingOnTheHealthyNode) {
  for (const auto& result : examine_all(Tree::load("healthy-hgx"))) {
    std::string why;
    for (const auto& line : result.not_looked) why += line + "\n";
    EXPECT_TRUE(result.outcome == Outcome::fine || result.outcome == Outcome::not_here)
        << result.row->id << ": " << why << told({result});
  }
}

TEST(DoctorTrees, AFileThatMayNotBeReadNeverMakesItsCheckFine) {
  const Tree healthy = Tree::load("healthy-hgx");
  const auto before = examine_all(healthy);
  for (const auto& [path, entry] : healthy.entries()) {
    Tree tree = healthy;
    tree.deny(path);
    const auto after = examine_all(tree);
    for (std::size_t n = 0; n < after.size(); ++n) {
      // Whoever could not read it says so; whoever says fine never asked for it.
      if (after[n].outcome != Outcome::fine) continue;
      EXPECT_EQ(after[n].seen, before[n].seen) << path << " of " << after[n].row->id;
    }
  }
}

// What may be missing on a node where all is well, or is shown beside a judgement that does not rest on it. A process
// counts for those alone who look for it.
bool may_be_missing(std::string_view check, const std::string& path) {
  using Rows = std::vector<std::pair<std::string_view, std::string_view>>;
  static const Rows optional = {
      {"", "/etc/default/grub"},
      {"", "/proc/cmdline"},
      {"cgroup-driver", "/etc/docker/daemon.json"},
      {"next-kernel", "/proc/sys/kernel/osrelease"},
      {"dkms-build", "/proc/sys/kernel/osrelease"},
      {"dkms-build", "/boot/grub/grub.cfg"},  // for which kernel a build failed: none has
      {"next-kernel", "/var/lib/dpkg/status"},
      // The running kernel's module is looked at then, which is the same here.
      {"module-signature", "/boot/grub/grub.cfg"},
      {"next-kernel", "/var/lib/dkms/nvidia/kernel-6.8.0-60-generic-x86_64"},
  };
  static const Rows wanted = {{"persistence-daemon", "/proc/801/comm"},
                              {"fabric-manager", "/proc/802/comm"},
                              {"memlock", "/proc/803/comm"},
                              {"time-sync", "/proc/804/comm"}};
  static const Rows one_of_two = {{"next-kernel", "/sys/bus/pci/devices/"},
                                  {"nouveau", "/sys/bus/pci/devices/"},
                                  {"module-ban", "/sys/bus/pci/devices/"},
                                  {"fabric-manager", "/sys/bus/pci/devices/0000:18"},
                                  {"fabric-manager", "/sys/bus/pci/devices/0000:2a"}};
  if (path.ends_with("/comm"))
    return std::ranges::find(wanted, Rows::value_type(check, path)) == wanted.end();
  return std::ranges::any_of(optional,
                             [&](const auto& row) {
                               return path == row.second &&
                                      (row.first.empty() || row.first == check);
                             }) ||
         std::ranges::any_of(one_of_two, [&](const auto& row) {
           return check == row.first && path.starts_with(row.second);
         });
}

TEST(DoctorTrees, AFileThatIsGoneNeverLeavesItsCheckAsItWas) {
  const Tree healthy = Tree::load("healthy-hgx");
  const auto before = examine_all(healthy);
  for (const auto& [path, entry] : healthy.entries()) {
    Tree denied = healthy;
    denied.deny(path);
    Tree gone = healthy;
    gone.remove(path);
    const auto unread = examine_all(denied);
    const auto after = examine_all(gone);
    for (std::size_t n = 0; n < after.size(); ++n) {
      const bool asked = unread[n].outcome != before[n].outcome;
      const bool same = after[n].outcome == before[n].outcome && after[n].seen == before[n].seen;
      if (may_be_missing(after[n].row->id, path)) continue;
      EXPECT_FALSE(asked && same) << after[n].row->id << " is as before without " << path;
    }
  }
}

TEST(DoctorTrees, WhereNothingIsThereNothingWasLookedAt) {
  const auto results = examine(Tree::parse(""), Context{}, [](const CheckRow&) { return true; });
  for (const auto& result : results) {
    EXPECT_NE(result.outcome, Outcome::fine) << result.row->id << ": " << result.seen;
  }
  EXPECT_TRUE(saw_nothing(results)) << told(results);
}

TEST(DoctorChecks, HaveIdsOfTheirOwnAndARowInTheSpec) {
  std::ifstream in(std::filesystem::path(STOKER_SOURCE_DIR) / "docs/specs/doctor.md");
  std::ostringstream spec;
  spec << in.rdbuf();
  constexpr auto where = std::to_array({"node", "container", "both"});
  constexpr auto gate = std::to_array({"", "before", "after", "before, after"});
  std::set<std::string_view> ids;
  for (const auto& row : all_checks()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    std::string line = "| `" + std::string(row.id) + "` | " + to_string(row.severity) + " | " +
                       where.at(static_cast<std::size_t>(row.where)) + " | " +
                       gate.at(static_cast<std::size_t>(row.gate)) + " | " +
                       std::string(row.title) + " | [source](" + std::string(row.source) + ") |";
    EXPECT_NE(spec.str().find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace stoker::doctor
