// Simulated node: faults of a GPU's memory.
#include <fmt/format.h>

#include <algorithm>

#include "device/sim/state_file.h"
#include "device/simnode/faults.h"
#include "device/simnode/xid.h"

namespace stoker::simnode {
namespace {

// NVML's numbers.
constexpr std::uint64_t event_single_bit = 0x1;
constexpr std::uint64_t event_double_bit = 0x2;
constexpr unsigned device_memory = 2;
constexpr unsigned corrected = 0;
constexpr unsigned uncorrected = 1;
constexpr unsigned cause_double_bit = 1;

Result<void> need_ecc(const Change& change) {
  for (const unsigned row : change.gpus) {
    if (change.gpu(row).ecc.location_mask != 0) continue;
    return fail(ErrorCode::not_supported, fmt::format("GPU {} has no ECC memory", row));
  }
  return {};
}

void count(sim::EccFacts& ecc, unsigned kind, std::uint64_t number) {
  for (unsigned counter = 0; counter < 2; ++counter) {
    ecc.total[kind][counter] += number;
    ecc.by_location[kind][counter][device_memory] += number;
  }
}

Result<std::uint64_t> number_of_errors(const Change& change) {
  if (change.request.args.empty()) return 1;
  return parse_number(change.request.args[0], "the number of errors", 1, 1'000'000'000);
}

bool remaps_rows(const sim::Gpu& gpu) { return gpu.identity.architecture >= 7; }  // from Ampere on

// The bank with the bad row has spare rows left, but not all any more.
void use_spare_row(sim::EccFacts& ecc) {
  if (ecc.row_histogram[0] == 0) return;
  --ecc.row_histogram[0];
  ++ecc.row_histogram[1];
}

void retire_page(Change& change, sim::EccFacts& ecc) {
  const std::uint32_t page = ecc.retired_count[cause_double_bit]++;
  ecc.retired_pending = 1;
  if (page >= sim::max_retired_pages) return;
  ecc.retired_address[cause_double_bit][page] = 0x12345;  // as Xid 63 prints it
  ecc.retired_time_us[cause_double_bit][page] = sim::wall_ns(change.state.clock) / 1000;
}

}  // namespace

void count_uncorrected(sim::EccFacts& ecc, std::uint64_t number) {
  if (ecc.location_mask != 0) count(ecc, uncorrected, number);
}

void mark_row(Change& change, unsigned row) {
  sim::Gpu& gpu = change.gpu(row);
  if (!remaps_rows(gpu)) {
    retire_page(change, gpu.ecc);
    return;
  }
  ++gpu.ecc.remapped_uncorrectable;
  gpu.ecc.remap_pending = 1;
  use_spare_row(gpu.ecc);
}

void fail_row(Change& change, unsigned row) {
  sim::Gpu& gpu = change.gpu(row);
  if (!remaps_rows(gpu)) return;
  gpu.ecc.remap_failed = 1;
  if (gpu.ecc.row_histogram[0] == 0) return;
  --gpu.ecc.row_histogram[0];
  ++gpu.ecc.row_histogram[4];
}

Result<std::string> apply_ecc_dbe(Change& change) {
  if (auto has = need_ecc(change); !has) return fail(has.error());
  const auto number = number_of_errors(change);
  if (!number) return fail(number.error());
  for_each_gpu(change, [&](sim::Gpu& gpu, unsigned row) {
    count_uncorrected(gpu.ecc, *number);
    add_event(change.state, event_double_bit, 0, row);
    raise_xid(change, row, 48);
    mark_row(change, row);
    raise_xid(change, row, 63);
  });
  return fmt::format("{} uncorrectable memory error{} on {}; a row waits for its remapping",
                     *number, *number == 1 ? "" : "s", gpu_words(change.gpus));
}

Result<std::string> apply_ecc_sbe(Change& change) {
  if (auto has = need_ecc(change); !has) return fail(has.error());
  const auto number = number_of_errors(change);
  if (!number) return fail(number.error());
  for_each_gpu(change, [&](sim::Gpu& gpu, unsigned row) {
    count(gpu.ecc, corrected, *number);
    add_event(change.state, event_single_bit, 0, row);
  });
  return fmt::format("{} corrected memory error{} on {}", *number, *number == 1 ? "" : "s",
                     gpu_words(change.gpus));
}

Result<std::string> apply_remap_pending(Change& change) {
  if (auto has = need_ecc(change); !has) return fail(has.error());
  for_each_gpu(change, [&](sim::Gpu&, unsigned row) {
    mark_row(change, row);
    raise_xid(change, row, 63);
  });
  return gpu_words(change.gpus) + ": a row waits for its remapping";
}

Result<std::string> apply_remap_failure(Change& change) {
  if (auto has = need_ecc(change); !has) return fail(has.error());
  for_each_gpu(change, [&](sim::Gpu&, unsigned row) {
    fail_row(change, row);
    raise_xid(change, row, 64);
  });
  return gpu_words(change.gpus) + ": a bank has no spare row left";
}

}  // namespace stoker::simnode
