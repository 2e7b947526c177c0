// Whose a device is, in /metrics: the golden files tests/golden/owners_*.prom, and what has to hold
// whoever has the devices.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "export/owners_test_support.h"
#include "export/render.h"
#include "export/text_test_support.h"

namespace stoker::exporting {
namespace {

std::string owned_text(const store::Snapshot& snapshot, const SeriesOptions& series,
                       Format format = Format::prometheus) {
  return render(snapshot, {}, {.series = series}, format).text;
}

// The families that differ by owner: one of the card's, one with labels of its own, and ours.
std::string owned_families(const std::string& text) {
  std::string all;
  for (const char* name : {"DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_XID_ERRORS",
                           "stoker_attribution_state", "stoker_gpu_owner_info"}) {
    for (const std::string& line : series_of(text, name)) all += line + "\n";
  }
  return all;
}

void expect_golden(const std::string& name, const SeriesOptions& series) {
  const std::string path = STOKER_SOURCE_DIR "/tests/golden/" + name;
  const std::string text = owned_families(owned_text(owned_snapshot(), series));
  if (std::getenv("STOKER_UPDATE_GOLDEN") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::ofstream(path) << text;
  }
  std::stringstream kept;
  kept << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, kept.str()) << name;
}

TEST(OwnersInMetrics, AreLabelsWhereADeviceHasOneOwnerAndInfoForAll) {
  expect_golden("owners_inline.prom", {});
}

TEST(OwnersInMetrics, HaveALineEachWhereThatIsAskedFor) {
  expect_golden("owners_per_owner.prom", {.owners = OwnerSeries::per_owner});
}

TEST(OwnersInMetrics, AreSpelledAsTheOldNamespaceDoes) {
  expect_golden("owners_pod_name.prom", {.pod_labels = PodLabels::pod_name});
}

TEST(OwnersInMetrics, ChangeNothingOfDcgmsSeriesWhereTheyAreInfoOrOff) {
  store::Snapshot nobody = owned_snapshot();
  nobody.attribution = nullptr;
  const std::string plain = owned_text(nobody, {.owners = OwnerSeries::off});
  EXPECT_EQ(owned_text(owned_snapshot(), {.owners = OwnerSeries::off}), plain);
  std::string info;
  for (const std::string& line :
       lines_of(owned_text(owned_snapshot(), {.owners = OwnerSeries::info}))) {
    const bool ours = line.find("stoker_gpu_owner_info") != std::string::npos ||
                      line.find("stoker_attribution_state") != std::string::npos;
    if (!ours) info += line + "\n";
  }
  EXPECT_EQ(info, plain);
}

TEST(OwnersInMetrics, AreNotToldOfAKubeletThatDoesNotAnswerWhichIsToldItself) {
  store::Snapshot snapshot = owned_snapshot();
  Attribution told = *snapshot.attribution;
  told.pods.reason = Reason::stale;
  snapshot.attribution = std::make_shared<const Attribution>(told);
  const std::string text = owned_text(snapshot, {});
  EXPECT_EQ(text.find("pod=\""), std::string::npos);
  EXPECT_NE(text.find("stoker_attribution_state{source=\"pods\",state=\"stale\"} 1"),
            std::string::npos);
  EXPECT_NE(text.find("hpc_job=\"4711\""), std::string::npos) << "/proc still answers";
}

// A text with everything that a label has to escape.
std::string any_name() {
  static constexpr std::string_view letters = "ab\"\\\n,={} \xc3\xa9";
  std::string name = "x";
  for (int n = *rc::gen::inRange(0, 4); n > 0; --n) {
    name += letters[*rc::gen::inRange<std::size_t>(0, 11)];
  }
  return name;
}

store::Snapshot any_snapshot() {
  store::Snapshot snapshot = owned_snapshot();
  Attribution told = *snapshot.attribution;
  const auto few = [](std::size_t most) { return *rc::gen::inRange<std::size_t>(0, most); };
  std::vector<std::string> names = {any_name(), any_name(), any_name()};
  const auto name = [&] { return names[few(names.size())]; };
  const std::vector<std::string> uuids = {snapshot.gpus[0].info.uuid, snapshot.gpus[5].info.uuid,
                                          "MIG-1", "MIG-2", "MIG-3"};
  for (std::size_t n = few(8); n > 0; --n) {
    DeviceHold hold{.holder = {.pod = name(), .pod_namespace = name(), .container = name()}};
    if (few(2) == 0) hold.replica = name();
    if (few(3) == 0) hold.claim = name();
    told.holds[uuids[few(uuids.size())]].push_back(std::move(hold));
  }
  for (auto pid = static_cast<std::uint32_t>(few(8)); pid > 0; --pid) {
    snapshot.gpus[few(2) == 0 ? 0 : 5].processes.push_back(
        {.pid = pid, .gpu_instance = few(2) == 0 ? 3U : 0xffffffffU, .compute_instance = 0});
    ProcessOwner& owner = told.owners[pid];
    owner.job = SlurmJob{.id = name()};
    if (few(2) == 0) {
      owner.pod = PodContainer{.pod = name(), .pod_namespace = name(), .container = name()};
    }
  }
  snapshot.attribution = std::make_shared<const Attribution>(std::move(told));
  return snapshot;
}

RC_GTEST_PROP(OwnersInMetrics, NeverMakeASeriesTwiceWhateverIsHeldAndHoweverItIsCalled, ()) {
  const store::Snapshot snapshot = any_snapshot();
  for (const OwnerSeries how : {OwnerSeries::inline_labels, OwnerSeries::per_owner}) {
    const PodLabels spelling = *rc::gen::arbitrary<bool>() ? PodLabels::pod : PodLabels::pod_name;
    std::set<std::string> seen;
    std::map<std::string, std::size_t> lines;
    for (const std::string& line :
         lines_of(owned_text(snapshot, {.owners = how, .pod_labels = spelling}))) {
      if (line.starts_with('#')) continue;
      const std::string series = line.substr(0, line.rfind(' '));
      RC_ASSERT(seen.insert(series).second);
      ++lines[series.substr(0, series.find('{'))];
    }
    // Inline never counts a device twice: seven cards and three GPU instances.
    if (how == OwnerSeries::inline_labels) RC_ASSERT(lines["DCGM_FI_DEV_GPU_TEMP"] == 10U);
  }
}

}  // namespace
}  // namespace stoker::exporting
