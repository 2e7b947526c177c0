// History stage: which fields are kept if nobody says otherwise.
#include "history/history.h"

namespace stoker::history {

// What is asked when somebody says "it got slow at three": heat, power, clocks and why they fell, work
// done by each unit, memory, the bus, errors that grow. 24 of the GPU, 4 of its NVLinks.
std::vector<FieldId> default_fields() {
  return {
      FieldId::temperature,
      FieldId::memory_temperature,
      FieldId::thermal_margin,
      FieldId::power,
      FieldId::power_limit,
      FieldId::energy,
      FieldId::sm_clock,
      FieldId::memory_clock,
      FieldId::throttle_reasons,
      FieldId::performance_state,
      FieldId::power_violation,
      FieldId::thermal_violation,
      FieldId::utilization,
      FieldId::memory_utilization,
      FieldId::sm_active,
      FieldId::sm_occupancy,
      FieldId::tensor_active,
      FieldId::dram_active,
      FieldId::pcie_tx,
      FieldId::pcie_rx,
      FieldId::memory_used,
      FieldId::ecc_corrected_volatile,
      FieldId::ecc_uncorrected_volatile,
      FieldId::pcie_replays,
      // its NVLinks together
      FieldId::nvlink_tx,
      FieldId::nvlink_rx,
      FieldId::nvlink_links_up,
      FieldId::nvlink_replay_errors_total,
  };
}

std::vector<FieldId> default_node_fields() {
  return {FieldId::cpu_busy, FieldId::memory_available, FieldId::shm_used, FieldId::data_disk_free,
          FieldId::cache_disk_free};
}

}  // namespace stoker::history
