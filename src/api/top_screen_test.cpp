#include "api/top_screen.h"

#include <gtest/gtest.h>

#include "api/documents.h"
#include "store/store_test_support.h"

namespace stoker::api {
namespace {

using store::gpu_reading;
using store::pci_of;

// Three GPUs: one works, one is hung, one sits at its power cap; two processes.
TopDocuments three_gpus() {
  store::RunningStore running(3);
  const auto at = running.clock.monotonic();
  for (unsigned gpu = 0; gpu < 3; ++gpu) {
    running.store.on_readings(
        pci_of(gpu),
        {gpu_reading(FieldId::utilization, Reading::of(std::int64_t{50} * gpu, at)),
         gpu_reading(FieldId::temperature, Reading::of(std::int64_t{40 + gpu}, at)),
         gpu_reading(FieldId::power, Reading::of(100.0 * (gpu + 1), at)),
         gpu_reading(FieldId::power_limit, Reading::of(700.0, at)),
         gpu_reading(FieldId::throttle_reasons, Reading::of(std::int64_t{gpu == 2 ? 4 : 0}, at)),
         gpu_reading(FieldId::memory_used, Reading::of(std::int64_t{gpu + 1} << 30, at)),
         gpu_reading(FieldId::memory_total, Reading::of(std::int64_t{80} << 30, at)),
         gpu_reading(FieldId::sm_active, Reading::none(Reason::no_source, at))});
  }
  running.store.on_processes(pci_of(0), Reading::of(std::int64_t{1}, at),
                             {{.pid = 4242,
                               .compute = true,
                               .memory_known = true,
                               .memory_bytes = std::uint64_t{3} << 29,
                               .name = "python3"}});
  running.store.on_processes(pci_of(2), Reading::of(std::int64_t{1}, at),
                             {{.pid = 77, .compute = true, .name = "train"}});
  running.store.on_gpu_state(pci_of(1), device::GpuState::hung, "");
  const store::Snapshot snapshot = running.store.snapshot();
  std::vector<const store::GpuSnapshot*> every;
  for (const auto& gpu : snapshot.gpus) every.push_back(&gpu);
  return {
      .status =
          R"({"schema":"stoker.dev/v1/status","verdict":"failing","reason":"1 of 3 GPUs hangs",)"
          R"("node":{"hostname":"node7"},"findings":[{"severity":"critical",)"
          R"("message":"GPU 1: a driver call has not returned"}]})",
      .gpus = gpus_document(snapshot, every)};
}

std::string screen_of(const TopChoice& choice, std::size_t width = 80, std::size_t height = 16) {
  const auto screen = top_screen(three_gpus(), choice, width, height);
  if (!screen) return screen.error().describe();
  EXPECT_EQ(screen->lines.size(), height);
  return plain_text(*screen);
}

TEST(TopScreen, ShowsGpusProcessesAndWhatIsWrong) {
  EXPECT_EQ(screen_of({.unicode = false}), R"( node7  failing  1 of 3 GPUs hangs  22:13:20Z
 GPU NAME           UTIL%        SM%  TC% DRAM TEMP  POWER W    MEM GiB NOTE
>  0 H100 80GB HBM3     0 .....  n/a  ...  ...   40  100/700   1.0/80.0
   1 H100 80GB HBM3  hung       hung hung hung hung     hung       hung hung
   2 H100 80GB HBM3   100 #####  n/a  ...  ...   42  300/700   3.0/80.0 PWR-CAP
 GPU      PID  MEM GiB TYPE      NAME
   0     4242      1.5 compute   python3
   2       77      n/a compute   train
   1 processes unknown: hung





 critical GPU 1: a driver call has not returned
 q quit  ? help  o order:index  g graph:power  s sort:gpu  / filter
)");
}

TEST(TopScreen, OrdersGpusAndProcessesAndFilters) {
  const std::string hot = screen_of({.gpus = GpuOrder::temperature, .unicode = false});
  EXPECT_LT(hot.find(">  2"), hot.find("   0 H100"));
  const std::string by_memory = screen_of({.processes = ProcessOrder::memory, .unicode = false});
  EXPECT_LT(by_memory.find("4242"), by_memory.find("  77"));
  const std::string by_pid = screen_of({.processes = ProcessOrder::pid, .unicode = false});
  EXPECT_GT(by_pid.find("4242"), by_pid.find("  77"));
  const std::string filtered = screen_of({.filter = "PYTH", .unicode = false});
  EXPECT_NE(filtered.find("4242"), std::string::npos);
  EXPECT_EQ(filtered.find("train"), std::string::npos);
}

TEST(TopScreen, FitsEverySizeAndSaysWhenItIsTooSmall) {
  const TopDocuments documents = three_gpus();
  for (std::size_t width = 1; width < 130; width += 13) {
    for (std::size_t height = 1; height < 60; height += 7) {
      for (const bool help : {false, true}) {
        const auto screen = top_screen(documents, {.help = help}, width, height);
        ASSERT_TRUE(screen);
        ASSERT_EQ(screen->lines.size(), height);
      }
    }
  }
  EXPECT_EQ(screen_of({}, 30, 2), "at least 40 x 10\n\n");
}

TEST(TopScreen, SaysWhenTheAgentDoesNotAnswer) {
  const auto screen = top_screen({.problem = "nobody listens"}, {}, 80, 10);
  ASSERT_TRUE(screen);
  EXPECT_EQ(plain_text(*screen).substr(0, 27), " no answer  nobody listens\n");
}

}  // namespace
}  // namespace stoker::api
