#include "device/simnode/xid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "device/simnode/fake_root.h"
#include "device/simnode/text_field.h"

namespace stoker::simnode {
namespace {

// NVML's event bits.
constexpr std::uint64_t event_xid = 0x8;
constexpr std::uint64_t event_recovery = 0x8000;

constexpr unsigned branch_without_unknown_pid = 570;  // 570.86.15 dropped "pid='<unknown>'"
constexpr unsigned branch_with_recovery = 565;        // 565.57.01 first prints Xid 154

enum class Who : std::uint8_t {
  process,  // pid and name of the process, where there is one
  nobody,   // the line never names one
};

// Texts: lines captured from driver 580.159.04 on H200 (13, 31, 43), real lines quoted in public issues
// (48, 63, 64, 74, 79, 94, 95, 109, 119, 136, 145, 149), and the formats of the open kernel modules. {0} is
// the NVLink, {1} the GPU's index.
struct Text {
  unsigned code;
  Who who;
  const char* text;
};
constexpr auto texts = std::to_array<Text>({
    {13, Who::process,
     "Graphics Exception: channel 0x0000000a, Class 0000cbc0, Offset 00000510, Data 0017e2ac"},
    {31, Who::process,
     "channel 0x0000000a, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_6 faulted @ "
     "0x802c_c9e00000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE"},
    {43, Who::process, "channel 0x0000000a"},
    {45, Who::process, "Ch 00000008"},
    {48, Who::process,
     "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at "
     "partition 0, subpartition 0."},
    {63, Who::process, "Row Remapper: New row marked for remapping, reset gpu to activate."},
    {64, Who::process,
     "Row Remapper Error: (0x00000005d28c03a0) - All reserved rows for bank are remapped"},
    {74, Who::process,
     "NVLink: fatal error detected on link {0}(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"},
    {79, Who::nobody, "GPU has fallen off the bus."},
    {92, Who::process, "High single-bit ECC error rate"},
    {94, Who::process, "Contained: CE User Channel (0x9). RST: No, D-RST: No"},
    {95, Who::process, "Uncontained: LTC TAG (0x2, 0x1). RST: Yes, D-RST: No"},
    {109, Who::process, "Ch 00000006, errorString CTX SWITCH TIMEOUT, Info 0x3c046"},
    {119, Who::process,
     "Timeout after 6s of waiting for RPC response from GPU{1} GSP! Expected function 103 "
     "(GSP_RM_ALLOC) (0x2081 0x4)."},
    {136, Who::nobody,
     "NVLink: Link training failed for link {0}(0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"},
    {145, Who::process,
     "RLW_SRC_TRACK Nonfatal XC1 i0 Link {0} (0x04082907 0x00000008 0x0 0x0 0x0 0x0 [0x0])"},
    {149, Who::process,
     "NETIR_LINK_DOWN Fatal XC0 i0 Link {0} (0x00000011 0x00000001 0x0 0x0 0x0 0x0 [0x0])"},
});
constexpr Text other_text{0, Who::process, "Ch 0000000a"};

// Before Ampere pages are retired and rows are not remapped (NVIDIA's page retirement guide).
constexpr std::uint32_t first_with_rows = 7;  // NVML's number of Ampere
constexpr auto page_texts = std::to_array<Text>({
    {63, Who::process,
     "Dynamic Page Retirement: New retired page, reload the driver to activate. "
     "(0x0000000000012345)"},
    {64, Who::process,
     "Dynamic Page Retirement: Fatal error, unable to retire page (0x0000000000012345)"},
});

// Immediate action of NVIDIA's Xid catalogue (analyzing-xid-catalog.html). A row that waits for its
// remapping (63) can wait until the GPU is drained: our reading, the catalogue says "ignore".
constexpr auto resets = std::to_array<unsigned>(
    {46, 48, 62, 64, 74, 95, 109, 110, 119, 120, 136, 140, 143, 149, 155, 156, 158});
constexpr auto drains = std::to_array<unsigned>({63});
constexpr auto reboots = std::to_array<unsigned>({79});

const Text& text_of(unsigned code, std::uint32_t architecture) {
  if (architecture < first_with_rows) {
    for (const Text& text : page_texts) {
      if (text.code == code) return text;
    }
  }
  for (const Text& text : texts) {
    if (text.code == code) return text;
  }
  return other_text;
}

unsigned branch_of(const sim::Driver& driver) {
  unsigned branch = 0;
  const auto text = get(driver.driver_version);
  std::from_chars(text.data(), text.data() + text.size(), branch);
  return branch;
}

// "pid=1281, name=python3, ", or what this driver prints where it knows none.
std::string who_words(const sim::State& state, const sim::Gpu& gpu, Who who) {
  if (who == Who::process) {
    for (const auto& process : gpu.processes) {
      if (process.kind == sim::ProcessKind::none) continue;
      return fmt::format("pid={}, name={}, ", process.pid, get(process.name));
    }
  }
  return branch_of(state.driver) < branch_without_unknown_pid ? "pid='<unknown>', name=<unknown>, "
                                                              : "";
}

const char* recovery_words(std::uint32_t action) {
  switch (action) {
    case 0: return "None";
    case 1: return "GPU Reset Required";
    case 2: return "Node Reboot Required";
    case 3: return "Drain P2P";
    case 4: return "Drain and Reset";
    default: return "Unknown";
  }
}

std::string prefix(const sim::Gpu& gpu, unsigned code) {
  return fmt::format("NVRM: Xid ({}): {}, ", address_of(gpu.pci).xid(), code);
}

// The driver weighs reboot, reset, drain and reset, drain P2P, in this order (the open modules'
// _gpuRecoveryActionName and its caller); an action that is there already is not weakened.
unsigned weight(std::uint32_t action) {
  constexpr std::array<unsigned, 5> weights{0, 3, 4, 1, 2};
  return action < weights.size() ? weights[action] : 0;
}

void raise_recovery(Change& change, unsigned row, Recovery next) {
  sim::Gpu& gpu = change.gpu(row);
  const std::uint32_t before = gpu.modes.recovery_action;
  const auto after = static_cast<std::uint32_t>(next);
  if (weight(after) <= weight(before)) return;
  gpu.modes.recovery_action = after;
  add_event(change.state, event_recovery, after, row);
  if (branch_of(change.state.driver) < branch_with_recovery) return;
  constexpr unsigned code = 154;
  add_event(change.state, event_xid, code, row);
  change.lines.push_back(
      {KernelLevel::warning,
       prefix(gpu, code) + fmt::format("GPU recovery action changed from {:#x} ({}) to {:#x} ({})",
                                       before, recovery_words(before), after,
                                       recovery_words(after)),
       row});
}

}  // namespace

Recovery recovery_of(unsigned code) {
  if (std::find(reboots.begin(), reboots.end(), code) != reboots.end()) return Recovery::reboot;
  if (std::find(drains.begin(), drains.end(), code) != drains.end()) return Recovery::drain_reset;
  if (std::find(resets.begin(), resets.end(), code) != resets.end()) return Recovery::reset;
  return Recovery::none;
}

std::string xid_line(const sim::State& state, unsigned gpu, unsigned code, unsigned link) {
  const sim::Gpu& facts = state.gpus[gpu];
  const Text& text = text_of(code, facts.identity.architecture);
  return prefix(facts, code) + who_words(state, facts, text.who) +
         fmt::format(fmt::runtime(text.text), link, gpu);
}

void raise_xid(Change& change, unsigned gpu, unsigned code, unsigned link) {
  change.lines.push_back({KernelLevel::warning, xid_line(change.state, gpu, code, link), gpu});
  add_event(change.state, event_xid, code, gpu);
  raise_recovery(change, gpu, recovery_of(code));
}

}  // namespace stoker::simnode
