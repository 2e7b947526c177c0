// Fuzzes files of checks. What is accepted can be told and evaluated.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "catalog/yaml/libfyaml_leaks_test_support.h"
#include "health/check_document.h"
#include "health/check_engine.h"
#include "health/check_reader.h"
#include "health/checks.h"

using namespace stoker;          // NOLINT(google-build-using-namespace): a program of its own
using namespace stoker::health;  // NOLINT(google-build-using-namespace)

namespace {

store::Snapshot node() {
  store::Snapshot snapshot;
  snapshot.taken_at = {Seconds(100)};
  store::GpuSnapshot gpu;
  gpu.migs[0] = {};
  gpu.nvlinks[0] = {};
  for (const Field& row : all_fields()) {
    const Reading reading = Reading::of(std::int64_t{1} << 62, snapshot.taken_at);
    if (row.entity == EntityKind::node) snapshot.node.set(row.id, reading);
    if (row.entity == EntityKind::gpu) gpu.readings.set(row.id, reading);
    if (row.entity == EntityKind::gpu) gpu.migs[0].set(row.id, reading);
    if (row.entity == EntityKind::nvlink) gpu.nvlinks[0].set(row.id, reading);
  }
  snapshot.gpus = {gpu, gpu};
  snapshot.gpus[1].info.uuid = "GPU-1";
  return snapshot;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Check> built_in = built_in_checks();
  static const store::Snapshot snapshot = node();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto checks = read_checks(text, "fuzz.yaml", built_in);
  if (!checks) {
    if (checks.error().message().empty()) __builtin_trap();
    return 0;
  }
  for (const Check& check : *checks) (void)explain_check(check, 80);
  if (checks_json(*checks).empty()) __builtin_trap();
  CheckEngine engine(*checks);
  (void)engine.evaluate(snapshot);
  (void)engine.evaluate(snapshot);
  return 0;
}
