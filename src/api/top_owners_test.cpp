// Who has the GPUs, on the screen of `stoker top` and in the table of `stoker gpus`. The screens are kept
// as tests/golden/top_owners_*.txt; after a change that is meant, run with STOKER_UPDATE_GOLDEN=1.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "api/documents.h"
#include "api/owner_cells.h"
#include "api/top_screen.h"
#include "api/views.h"
#include "export/owners_test_support.h"
#include "model/wrap.h"

namespace stoker::api {
namespace {

using exporting::golden_time;

constexpr std::uint64_t gibibyte = 1ULL << 30;
const std::string container_id = std::string(52, 'a') + "0123456789ab";

device::ProcessInfo process(std::uint32_t pid, const std::string& name, std::uint64_t memory) {
  return {.pid = pid, .memory_known = true, .memory_bytes = memory, .name = name};
}

ProcessOwner in_pod(const std::string& pod, const std::string& uid) {
  return {.uid = 1000,
          .user = "app",
          .container_id = container_id,
          .runtime = "containerd",
          .pod = PodContainer{.pod = pod,
                              .pod_namespace = pod.empty() ? "" : "research",
                              .container = pod.empty() ? "" : "main",
                              .pod_uid = uid}};
}

// As export's, with what its processes are, in pods, on the host and in a container of docker.
store::Snapshot owned() {
  store::Snapshot snapshot = exporting::owned_snapshot();
  Attribution told = *snapshot.attribution;
  const auto run = [&](std::size_t gpu, const device::ProcessInfo& info, ProcessOwner owner) {
    snapshot.gpus[gpu].processes.push_back(info);
    snapshot.gpus[gpu].process_outcome = Reading::of(std::int64_t{1}, golden_time);
    told.owners[info.pid] = std::move(owner);
  };
  for (store::GpuSnapshot& gpu : snapshot.gpus) {
    for (device::ProcessInfo& known : gpu.processes) {
      known = process(known.pid, "python3", 4 * gibibyte);
    }
    gpu.process_outcome = Reading::of(std::int64_t{1}, golden_time);
  }
  run(0, process(100, "torchrun", 60 * gibibyte), in_pod("trainer-0", "uid-0"));
  run(2, process(200, "jupyter", 2 * gibibyte), in_pod("", "7c1f2e9a"));
  run(6, process(600, "nvtop", gibibyte / 2), {.uid = 0, .user = "root"});
  run(7, process(700, "ollama", 8 * gibibyte),
      {.uid = 1002, .container_id = container_id, .runtime = "docker"});
  device::ProcessInfo on_mig = process(500, "vllm", 6 * gibibyte);
  on_mig.gpu_instance = 7;
  on_mig.compute_instance = 0;
  run(5, on_mig, in_pod("server-a", "uid-a"));
  snapshot.attribution = std::make_shared<const Attribution>(std::move(told));
  return snapshot;
}

TopDocuments documents_of(const store::Snapshot& snapshot) {
  std::vector<const store::GpuSnapshot*> every;
  for (const auto& gpu : snapshot.gpus) every.push_back(&gpu);
  return {.status = status_document(snapshot, {.version = "0.1.0"}),
          .gpus = gpus_document(snapshot, every)};
}

std::string screen_of(const store::Snapshot& snapshot, const TopChoice& choice, std::size_t width,
                      std::size_t height) {
  const auto screen = top_screen(documents_of(snapshot), choice, width, height);
  if (!screen) return screen.error().describe();
  std::string text = plain_text(*screen);
  for (const auto& line : wrap(text, 10'000)) EXPECT_LE(columns(line), width) << line;
  return text;
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = STOKER_SOURCE_DIR "/tests/golden/" + name;
  if (std::getenv("STOKER_UPDATE_GOLDEN") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::ofstream(path) << text;
  }
  std::stringstream kept;
  kept << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, kept.str()) << name;
}

TEST(TopOwners, FitAnEightyColumnTerminal) {
  expect_golden("top_owners_80x30.txt", screen_of(owned(), {.row = 2}, 80, 30));
}

TEST(TopOwners, HaveColumnsOfTheirOwnWhereThereIsRoom) {
  expect_golden("top_owners_140x30.txt", screen_of(owned(), {.row = 2}, 140, 30));
}

TEST(TopOwners, AreSaidToBeUnknownAndWhy) {
  store::Snapshot snapshot = owned();
  Attribution told = *snapshot.attribution;
  told.owners.clear();
  told.processes = {.reason = Reason::no_permission,
                    .detail = "this container does not see the host's processes: set hostPID"};
  told.pods = {.reason = Reason::failed, .detail = "the kubelet's socket refuses us"};
  snapshot.attribution = std::make_shared<const Attribution>(std::move(told));
  const std::string screen = screen_of(snapshot, {}, 80, 30);
  EXPECT_NE(screen.find("owners unknown: this container does not see the host's processes: set "
                        "hostPID"),
            std::string::npos)
      << screen;
  EXPECT_NE(screen.find("pods unknown: the kubelet's socket refuses us"), std::string::npos);
  EXPECT_NE(screen.find("denied"), std::string::npos) << "not \"-\", which is nobody";
  EXPECT_EQ(screen.find("trainer-0"), std::string::npos);
}

TEST(TopOwners, AreWhatTheFilterAndTheOrderGoBy) {
  const auto shown = [](const std::string& filter) {
    return screen_of(owned(), {.filter = filter, .unicode = false}, 80, 40);
  };
  for (const char* filter : {"research", "TRAINER-0", "uid-0", "containerd"}) {
    EXPECT_NE(shown(filter).find("torchrun"), std::string::npos) << filter;
    EXPECT_EQ(shown(filter).find("nvtop"), std::string::npos) << filter;
  }
  EXPECT_NE(shown("4712").find("   4      400"), std::string::npos);
  EXPECT_EQ(shown("4712").find("   4      401"), std::string::npos);
  EXPECT_NE(shown("root").find("nvtop"), std::string::npos);
  const std::string ordered =
      screen_of(owned(), {.processes = ProcessOrder::owner, .unicode = false}, 80, 40);
  EXPECT_LT(ordered.find("job 4712"), ordered.find("job 4713"));
  EXPECT_LT(ordered.find("job 4713"), ordered.find("torchrun"));
  EXPECT_LT(ordered.find("torchrun"), ordered.find("nvtop")) << "nobody's come last";
}

TEST(TopOwners, AreCutWhereTheySayLeast) {
  EXPECT_EQ(cut_pod("research/trainer-0-abcde", 10, true), "…r-0-abcde");
  EXPECT_EQ(cut_pod("pod 51000000-0000", 10, false), "pod 51000~");
  EXPECT_EQ(cut_end("4711.0 pretraining", 8, false), "4711.0 ~");
  EXPECT_EQ(cut_end("ünïcödé", 4, true), "ünï…");
  EXPECT_EQ(cut_end("fits", 4, true), "fits");
}

TEST(TopOwners, AreAColumnOfTheTableOfGpusWhereAnyIsKnown) {
  const auto table = view_gpus(documents_of(owned()).gpus);
  ASSERT_TRUE(table);
  for (const char* owner : {"  OWNER\n", "  research/trainer-0\n", "  research/notebook-a +1\n",
                            "  job 4712 +1\n", "  research/server-a +2\n"}) {
    EXPECT_NE(table->find(owner), std::string::npos) << owner << *table;
  }
  EXPECT_EQ(view_gpus(documents_of(exporting::hgx_h100_snapshot()).gpus)->find("OWNER"),
            std::string::npos);
}

}  // namespace
}  // namespace stoker::api
