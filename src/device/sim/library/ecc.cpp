// Simulated library: memory errors and how the card has repaired them.
#include "device/sim/library/gate.h"

namespace stoker::sim {
namespace {

constexpr std::size_t kinds = 2;  // corrected and uncorrected; volatile and aggregate

bool known(MemoryErrorType error, EccCounterType counter) {
  return static_cast<std::size_t>(error) < kinds && static_cast<std::size_t>(counter) < kinds;
}

// ECC counters exist only while ECC is on.
Return on_ecc(const Function& function, Device device, bool arguments_good,
              FunctionRef<Return(const EccFacts&)> body, Takes takes = Takes::gpu) {
  return on_gpu(
      function, device, arguments_good,
      [&](const View& view) {
        return view.gpu.ecc.mode == 0 ? Return::not_supported : body(view.gpu.ecc);
      },
      takes);
}

bool has_instances(const Gpu& gpu) {
  for (const GpuInstance& instance : gpu.mig.instances) {
    if (instance.used != 0) return gpu.mig.mode != 0;
  }
  return false;
}

// nvml.h: not told while MIG is on and instances are there.
Return on_rows(const Function& function, Device device, bool arguments_good,
               FunctionRef<Return(const EccFacts&)> body) {
  return on_gpu(function, device, arguments_good, [&](const View& view) {
    return has_instances(view.gpu) ? Return::not_supported : body(view.gpu.ecc);
  });
}

Return retired_pages(const Function& function, Device device, PageRetirementCause cause,
                     unsigned* page_count, std::uint64_t* addresses, std::uint64_t* timestamps) {
  const auto index = static_cast<std::size_t>(cause);
  ArrayOut<std::uint64_t> out(addresses, page_count);
  return on_gpu(function, device, index < kinds && out.good(), [&](const View& view) {
    const EccFacts& ecc = view.gpu.ecc;
    const std::uint32_t count = ecc.retired_count[index];
    out.clear();
    for (std::uint32_t page = 0; page < count; ++page) {
      out.add(page < max_retired_pages ? ecc.retired_address[index][page] : 0);
    }
    const Return filled = out.finish();
    if (filled == Return::success && timestamps != nullptr) {
      for (std::uint32_t page = 0; page < count; ++page) {
        timestamps[page] = page < max_retired_pages ? ecc.retired_time_us[index][page] : 0;
      }
    }
    return filled;
  });
}

}  // namespace

extern "C" {

Return nvmlDeviceGetTotalEccErrors(Device device, MemoryErrorType error_type,
                                   EccCounterType counter_type, std::uint64_t* ecc_counts) {
  const bool good = known(error_type, counter_type) && ecc_counts != nullptr;
  return on_ecc(fn(__func__), device, good, [&](const EccFacts& ecc) {
    *ecc_counts =
        ecc.total[static_cast<std::size_t>(error_type)][static_cast<std::size_t>(counter_type)];
    return Return::success;
  });
}

Return nvmlDeviceGetMemoryErrorCounter(Device device, MemoryErrorType error_type,
                                       EccCounterType counter_type, MemoryLocation location_type,
                                       std::uint64_t* count) {
  const auto location = static_cast<std::size_t>(location_type);
  const bool good = known(error_type, counter_type) && location < 8 && count != nullptr;
  return on_ecc(
      fn(__func__), device, good,
      [&](const EccFacts& ecc) {
        if (((ecc.location_mask >> location) & 1U) == 0) return Return::not_supported;
        *count = ecc.by_location[static_cast<std::size_t>(error_type)]
                                [static_cast<std::size_t>(counter_type)][location];
        return Return::success;
      },
      Takes::gpu_or_mig);
}

Return nvmlDeviceGetDetailedEccErrors(Device device, MemoryErrorType error_type,
                                      EccCounterType counter_type, EccErrorCounts* ecc_counts) {
  const bool good = known(error_type, counter_type) && ecc_counts != nullptr;
  return on_ecc(fn(__func__), device, good, [&](const EccFacts& ecc) {
    const auto& counts = ecc.by_location[static_cast<std::size_t>(error_type)]
                                        [static_cast<std::size_t>(counter_type)];
    *ecc_counts = {counts[0], counts[1], counts[2], counts[3]};
    return Return::success;
  });
}

Return nvmlDeviceGetSramEccErrorStatus(Device device, SramEccErrorStatusV1* status) {
  return on_ecc(fn(__func__), device, status != nullptr, [&](const EccFacts& ecc) {
    if (status->version != version_tag<SramEccErrorStatusV1>(1)) {
      return Return::argument_version_mismatch;
    }
    constexpr auto sram = static_cast<std::size_t>(MemoryLocation::sram);
    status->aggregate_uncorrected_parity = ecc.sram_aggregate_parity;
    status->aggregate_uncorrected_sec_ded = ecc.sram_aggregate_sec_ded;
    status->aggregate_corrected = ecc.by_location[0][1][sram];
    status->volatile_uncorrected_parity = ecc.sram_volatile_parity;
    status->volatile_uncorrected_sec_ded = ecc.sram_volatile_sec_ded;
    status->volatile_corrected = ecc.by_location[0][0][sram];
    status->aggregate_uncorrected_l2 = ecc.sram_aggregate_sources[0];
    status->aggregate_uncorrected_sm = ecc.sram_aggregate_sources[1];
    status->aggregate_uncorrected_pcie = ecc.sram_aggregate_sources[2];
    status->aggregate_uncorrected_microcontroller = ecc.sram_aggregate_sources[3];
    status->aggregate_uncorrected_other = ecc.sram_aggregate_sources[4];
    status->threshold_exceeded = ecc.sram_threshold_exceeded;
    return Return::success;
  });
}

Return nvmlDeviceClearEccErrorCounts(Device device, EccCounterType counter_type) {
  const auto counter = static_cast<std::size_t>(counter_type);
  return change_gpu(fn(__func__), device, counter < kinds, [&](const ChangeView& view) {
    EccFacts& ecc = view.gpu.ecc;
    if (ecc.mode == 0) return Return::not_supported;
    for (std::size_t error = 0; error < kinds; ++error) {
      ecc.total[error][counter] = 0;
      for (std::uint64_t& count : ecc.by_location[error][counter]) count = 0;
    }
    return Return::success;
  });
}

Return nvmlDeviceGetRetiredPages(Device device, PageRetirementCause cause, unsigned* page_count,
                                 std::uint64_t* addresses) {
  return retired_pages(fn(__func__), device, cause, page_count, addresses, nullptr);
}

Return nvmlDeviceGetRetiredPages_v2(Device device, PageRetirementCause cause, unsigned* page_count,
                                    std::uint64_t* addresses, std::uint64_t* timestamps) {
  return retired_pages(fn(__func__), device, cause, page_count, addresses, timestamps);
}

Return nvmlDeviceGetRetiredPagesPendingStatus(Device device, EnableState* is_pending) {
  return tell(fn(__func__), device, is_pending,
              [](const View& view) { return view.gpu.ecc.retired_pending; });
}

Return nvmlDeviceGetRemappedRows(Device device, unsigned* corr_rows, unsigned* unc_rows,
                                 unsigned* is_pending, unsigned* failure_occurred) {
  const bool good = corr_rows != nullptr && unc_rows != nullptr && is_pending != nullptr &&
                    failure_occurred != nullptr;
  return on_rows(fn(__func__), device, good, [&](const EccFacts& ecc) {
    *corr_rows = ecc.remapped_correctable;
    *unc_rows = ecc.remapped_uncorrectable;
    *is_pending = ecc.remap_pending;
    *failure_occurred = ecc.remap_failed;
    return Return::success;
  });
}

Return nvmlDeviceGetRemappedRows_v2(Device device, RemappedRowsV2* info) {
  return on_rows(fn(__func__), device, info != nullptr, [&](const EccFacts& ecc) {
    *info = {ecc.remapped_correctable, 0, ecc.remapped_uncorrectable, 0, ecc.remap_pending,
             ecc.remap_failed};
    return Return::success;
  });
}

Return nvmlDeviceGetRowRemapperHistogram(Device device, RowRemapperHistogram* values) {
  return on_gpu(fn(__func__), device, values != nullptr, [&](const View& view) {
    const auto& rows = view.gpu.ecc.row_histogram;
    *values = {rows[0], rows[1], rows[2], rows[3], rows[4]};
    return Return::success;
  });
}

Return nvmlDeviceGetRepairStatus(Device device, RepairStatusV1* repair_status) {
  return on_gpu(fn(__func__), device, repair_status != nullptr, [&](const View& view) {
    if (repair_status->version != version_tag<RepairStatusV1>(1)) {
      return Return::argument_version_mismatch;
    }
    repair_status->channel_repair_pending = view.gpu.ecc.channel_repair_pending;
    repair_status->tpc_repair_pending = view.gpu.ecc.tpc_repair_pending;
    return Return::success;
  });
}

}  // extern "C"
}  // namespace stoker::sim
