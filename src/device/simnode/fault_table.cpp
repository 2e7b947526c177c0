// Simulated node: the one table of faults. `stoker sim inject --help` prints it, and nothing is taken
// that it does not list.
#include <array>

#include "device/simnode/faults.h"
#include "device/simnode/sim_node.h"

namespace stoker::simnode {
namespace {

constexpr auto rows = std::to_array<FaultRow>({
    {"xid",
     "CODE [--gpu N] [--link N]",
     "The kernel prints the Xid as the driver does and NVML tells it, with what comes of it: 79 "
     "loses the GPU, 48, 94 and 95 count memory errors, 63 and 64 mark rows, 74 and 149 take an "
     "NVLink down, and the driver's recovery action follows (Xid 154).",
     "xid 79 --gpu 3",
     {.link = true, .least_args = 1, .most_args = 1},
     apply_xid},
    {"ecc-dbe",
     "[COUNT] [--gpu N]",
     "Uncorrectable memory errors: counters, Xid 48 and 63, a row waits for its remapping.",
     "ecc-dbe --gpu 1",
     {.most_args = 1},
     apply_ecc_dbe},
    {"ecc-sbe",
     "[COUNT] [--gpu N]",
     "Corrected memory errors: counters and the NVML event; the kernel prints nothing.",
     "ecc-sbe 1000 --gpu 1",
     {.most_args = 1},
     apply_ecc_sbe},
    {"remap-pending",
     "[--gpu N]",
     "A row waits for its remapping until the GPU is reset (Xid 63).",
     "remap-pending --gpu 2",
     {},
     apply_remap_pending},
    {"remap-failure",
     "[--gpu N]",
     "A bank has no spare row left (Xid 64): the card is to be replaced.",
     "remap-failure --gpu 2",
     {},
     apply_remap_failure},
    {"hang",
     "[--call NAME] [--gpu N]",
     "Calls on the GPU never return, all of them or one. A caller that waits sleeps in the kernel.",
     "hang --gpu 2",
     {.call = true},
     apply_hang},
    {"slow",
     "--delay TIME [--call NAME] [--gpu N]",
     "Calls on the GPU take so much longer, all of them or one.",
     "slow --call nvmlDeviceGetPowerUsage --delay 2s",
     {.call = true, .delay = true},
     apply_slow},
    {"fail",
     "--return CODE [--call NAME] [--gpu N]",
     "Calls on the GPU answer this nvmlReturn, all of them or one.",
     "fail --call nvmlDeviceGetTemperature --return NOT_SUPPORTED --gpu all",
     {.call = true, .return_code = true},
     apply_fail},
    {"block-on",
     "FILE [--call NAME] [--gpu N]",
     "Calls on the GPU first read one byte of FILE. A FUSE file whose server does not answer holds "
     "them in the kernel, as a hung driver does (D state).",
     "block-on /mnt/stuck/file --gpu 0",
     {.call = true, .least_args = 1, .most_args = 1},
     apply_block_on},
    {"global-lock",
     "",
     "All calls of all processes take one lock, as in drivers with one big lock: one call that "
     "hangs "
     "stops them all.",
     "global-lock",
     {.gpu = false},
     apply_global_lock},
    {"vanish",
     "[--gpu N]",
     "The GPU is gone from NVML, sysfs and /proc: open handles are lost, new clients don't see it.",
     "vanish --gpu 5",
     {},
     apply_vanish},
    {"return",
     "[--gpu N]",
     "A GPU that vanished or was lost is back, as after a reset.",
     "return --gpu 5",
     {},
     apply_return},
    {"thermal",
     "[CELSIUS] [--gpu N]",
     "The GPU is so hot: by default one degree above its own slowdown threshold. Clocks, reasons "
     "and "
     "power follow.",
     "thermal 92 --gpu 4",
     {.most_args = 1},
     apply_thermal},
    {"power-brake",
     "[--gpu N]",
     "The power supply asks for less (HW power brake): clocks fall to half.",
     "power-brake --gpu all",
     {},
     apply_power_brake},
    {"nvlink-down",
     "[--link N] [--gpu N]",
     "An NVLink is down (Xid 74, on Blackwell 149); its error counters rise.",
     "nvlink-down --link 7 --gpu 0",
     {.link = true},
     apply_nvlink_down},
    {"port-down",
     "DEVICE",
     "An RDMA port has no link: DOWN and Polling, link_downed rises, mlx5_core says that the cable "
     "is out.",
     "port-down mlx5_3",
     {.gpu = false, .least_args = 1, .most_args = 1},
     apply_port_down},
    {"port-slow",
     "DEVICE",
     "An RDMA port runs at half its rate, with half its lanes.",
     "port-slow mlx5_3",
     {.gpu = false, .least_args = 1, .most_args = 1},
     apply_port_slow},
    {"port-count",
     "DEVICE COUNTER [N]",
     "A counter of an RDMA port rises, by one or by N.",
     "port-count mlx5_3 symbol_error 500",
     {.gpu = false, .least_args = 2, .most_args = 3},
     apply_port_count},
    {"port-up",
     "DEVICE",
     "An RDMA port has its link again, at its rate.",
     "port-up mlx5_3",
     {.gpu = false, .least_args = 1, .most_args = 1},
     apply_port_up},
    {"driver-unload",
     "",
     "The kernel module is unloaded: NVML answers DRIVER_NOT_LOADED.",
     "driver-unload",
     {.gpu = false},
     apply_driver_unload},
    {"driver-load",
     "",
     "The kernel module is loaded again: volatile counters and energy begin at zero, old clients "
     "have "
     "to start anew.",
     "driver-load",
     {.gpu = false},
     apply_driver_load},
    {"init-fail",
     "CODE",
     "nvmlInit answers this nvmlReturn, e.g. 18 where library and module differ.",
     "init-fail LIB_RM_VERSION_MISMATCH",
     {.gpu = false, .least_args = 1, .most_args = 1},
     apply_init_fail},
    {"permission-denied",
     "",
     "nvmlInit answers NO_PERMISSION.",
     "permission-denied",
     {.gpu = false},
     apply_permission_denied},
    {"mig-mode",
     "on|off [--gpu N]",
     "Switches MIG; instances of before are gone.",
     "mig-mode on --gpu 0",
     {.least_args = 1, .most_args = 1},
     apply_mig_mode},
    {"mig-create",
     "PROFILE [--gpu N]",
     "Makes a GPU instance with one compute instance; refuses what the card would refuse.",
     "mig-create 1g.10gb --gpu 0",
     {.least_args = 1, .most_args = 1},
     apply_mig_create},
    {"process",
     "add|remove PID [NAME] [MIB] [--gpu N]",
     "A process holds memory on the GPU, or has left it.",
     "process add 4242 python3 20480 --gpu 0",
     {.least_args = 2, .most_args = 4},
     apply_process},
    {"kmsg",
     "TEXT",
     "The kernel prints a line of your own.",
     "kmsg 'NVRM: Xid (PCI:0000:1b:00): 31, pid=1, name=x, Ch 00000001'",
     {.gpu = false, .least_args = 1, .most_args = 1},
     apply_kmsg},
});

}  // namespace

std::span<const FaultRow> fault_rows() { return rows; }

const FaultRow* find_fault(std::string_view name) {
  for (const auto& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::vector<FaultHelp> faults() {
  std::vector<FaultHelp> all;
  for (const auto& row : rows) {
    const std::string usage(row.usage);
    all.push_back(
        {std::string(row.name), std::string(row.name) + (usage.empty() ? "" : " " + usage),
         std::string(row.help), "stoker sim inject --data DIR " + std::string(row.example)});
  }
  return all;
}

}  // namespace stoker::simnode
