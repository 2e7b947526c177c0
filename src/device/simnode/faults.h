// Simulated node: the faults that can be injected, one function each. They are listed in
// fault_table.cpp, from which help, checks and completion come.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "device/simnode/change.h"

namespace stoker::simnode {

// What a fault takes besides its name; everything else is refused.
struct Takes {
  bool gpu = true;  // --gpu; false: it is the whole driver's
  bool call = false;
  bool delay = false;
  bool return_code = false;
  bool link = false;
  unsigned least_args = 0;
  unsigned most_args = 0;
};

struct FaultRow {
  std::string_view name;
  std::string_view usage;  // behind the name: "CODE [--gpu N]"
  std::string_view help;
  std::string_view example;  // behind "stoker sim inject --data DIR"
  Takes takes;
  Apply apply;
};
std::span<const FaultRow> fault_rows();
const FaultRow* find_fault(std::string_view name);

// faults_calls.cpp: what calls do
Result<std::string> apply_hang(Change& change);
Result<std::string> apply_slow(Change& change);
Result<std::string> apply_fail(Change& change);
Result<std::string> apply_block_on(Change& change);
// A number of nvmlReturn by number or word; `what` names the argument in the refusal.
Result<std::int32_t> parse_return_code(const std::string& text, const std::string& what);
// faults_driver.cpp: the driver as a whole
Result<std::string> apply_global_lock(Change& change);
Result<std::string> apply_driver_unload(Change& change);
Result<std::string> apply_driver_load(Change& change);
Result<std::string> apply_init_fail(Change& change);
Result<std::string> apply_permission_denied(Change& change);
// faults_device.cpp: one GPU
Result<std::string> apply_xid(Change& change);
Result<std::string> apply_vanish(Change& change);
Result<std::string> apply_return(Change& change);
Result<std::string> apply_thermal(Change& change);
Result<std::string> apply_power_brake(Change& change);
Result<std::string> apply_nvlink_down(Change& change);
// faults_memory.cpp: its memory
Result<std::string> apply_ecc_dbe(Change& change);
Result<std::string> apply_ecc_sbe(Change& change);
Result<std::string> apply_remap_pending(Change& change);
Result<std::string> apply_remap_failure(Change& change);
void count_uncorrected(sim::EccFacts& ecc, std::uint64_t number);
void mark_row(Change& change, unsigned row);
void fail_row(Change& change, unsigned row);
void lose_gpu(Change& change, unsigned row);
// faults_ports.cpp: RDMA ports
Result<std::string> apply_port_down(Change& change);
Result<std::string> apply_port_slow(Change& change);
Result<std::string> apply_port_up(Change& change);
Result<std::string> apply_port_count(Change& change);
// faults_software.cpp: what operators and users do
Result<std::string> apply_mig_mode(Change& change);
Result<std::string> apply_mig_create(Change& change);
Result<std::string> apply_process(Change& change);
Result<std::string> apply_kmsg(Change& change);

}  // namespace stoker::simnode
