// What writing /metrics for eight H100s costs. The budget is 1 ms at p99 (docs/measurements.md), for the
// whole answer; this is the part that is ours.
#include <benchmark/benchmark.h>

#include "export/hgx_h100_test_support.h"
#include "export/render.h"
#include "health/node_status.h"

namespace stoker::exporting {
namespace {

void render_hgx_h100(benchmark::State& state, Format format) {
  const store::Snapshot snapshot = hgx_h100_snapshot();
  std::size_t bytes = 0;
  for ([[maybe_unused]] const auto _ : state) {
    const std::string text = render(snapshot, health::evaluate(snapshot), {}, format).text;
    bytes = text.size();
    benchmark::DoNotOptimize(text.data());
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK_CAPTURE(render_hgx_h100, prometheus, Format::prometheus)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(render_hgx_h100, openmetrics, Format::openmetrics)->Unit(benchmark::kMicrosecond);

void copy_snapshot(benchmark::State& state) {
  const store::Snapshot snapshot = hgx_h100_snapshot();
  for ([[maybe_unused]] const auto _ : state) {
    store::Snapshot copy = snapshot;
    benchmark::DoNotOptimize(copy.gpus.data());
  }
}
BENCHMARK(copy_snapshot)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace stoker::exporting
