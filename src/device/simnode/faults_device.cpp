// Simulated node: faults of one GPU's bus, heat, power and links.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "device/sim/load_model.h"
#include "device/simnode/fake_root.h"
#include "device/simnode/faults.h"
#include "device/simnode/xid.h"

namespace stoker::simnode {
namespace {

// NVML's clock event bits.
constexpr std::uint64_t hardware_slowdown = 0x8;
constexpr std::uint64_t power_brake_slowdown = 0x80;
constexpr std::uint32_t threshold_slowdown = 1;
constexpr int hot_where_unknown = 95;  // Celsius; a card without a known threshold just gets hot
constexpr unsigned nvlink5_code =
    7;  // NVML's version code: Blackwell prints Xid 149, older ones 74
constexpr unsigned max_xid = 999;

Result<void> need_links(const Change& change, unsigned link) {
  for (const unsigned row : change.gpus) {
    const auto links = change.gpu(row).link_count;
    if (link < links) continue;
    return fail(ErrorCode::invalid_input,
                links == 0 ? fmt::format("GPU {} has no NVLink", row)
                           : fmt::format("--link: GPU {} has NVLinks 0 to {}, not {}", row,
                                         links - 1, link));
  }
  return {};
}

void take_link_down(Change& change, unsigned row, unsigned link) {
  sim::LinkFacts& facts = change.gpu(row).links[link];
  facts.active = 0;
  ++facts.errors[0];
  ++facts.errors[1];
}

// What NVIDIA's catalogue says that an Xid means, as far as counters and states show it.
void consequence(Change& change, unsigned row, unsigned code, unsigned link) {
  sim::Gpu& gpu = change.gpu(row);
  switch (code) {
    case 48:
    case 95:
    case 140: count_uncorrected(gpu.ecc, 1); break;
    case 94: count_uncorrected(gpu.ecc, 1); break;
    case 63: mark_row(change, row); break;
    case 64: fail_row(change, row); break;
    case 74:
    case 149:
      if (link < gpu.link_count) take_link_down(change, row, link);
      break;
    case 79: lose_gpu(change, row); break;
    default: break;
  }
}

}  // namespace

void lose_gpu(Change& change, unsigned row) {
  sim::Gpu& gpu = change.gpu(row);
  if (gpu.presence == sim::Presence::present) gpu.presence = sim::Presence::lost;
  change.root.push_back({RootChange::Kind::link_lost, row});
  change.lines.push_back(
      {KernelLevel::warning,
       fmt::format("NVRM: GPU {}: GPU has fallen off the bus.", address_of(gpu.pci).sysfs()), row});
}

Result<std::string> apply_xid(Change& change) {
  const auto code = parse_number(change.request.args[0], "xid", 1, max_xid);
  if (!code) return fail(code.error());
  const unsigned link = change.request.link.value_or(0);
  if (change.request.link) {
    if (auto there = need_links(change, link); !there) return fail(there.error());
  }
  const auto number = static_cast<unsigned>(*code);
  for_each_gpu(change, [&](sim::Gpu&, unsigned row) {
    raise_xid(change, row, number, link);
    consequence(change, row, number, link);
  });
  return fmt::format("Xid {} on {}", number, gpu_words(change.gpus));
}

Result<std::string> apply_vanish(Change& change) {
  for_each_gpu(change, [&](sim::Gpu& gpu, unsigned row) {
    if (gpu.presence == sim::Presence::vanished) return;
    gpu.presence = sim::Presence::vanished;
    change.root.push_back({RootChange::Kind::gpu_gone, row});
  });
  return gpu_words(change.gpus) + " is gone: handles are lost, new clients don't see it";
}

Result<std::string> apply_return(Change& change) {
  for (const unsigned row : change.gpus) {
    if (change.gpu(row).presence != sim::Presence::present) continue;
    return fail(ErrorCode::invalid_input, fmt::format("GPU {} is there already", row));
  }
  for_each_gpu(change, [&](sim::Gpu& gpu, unsigned row) {
    gpu.presence = sim::Presence::present;
    ++gpu.incarnation;
    gpu.modes.recovery_action = 0;
    change.root.push_back({RootChange::Kind::gpu_back, row});
    change.root.push_back({RootChange::Kind::link_back, row});
  });
  return gpu_words(change.gpus) + " is back; handles of before stay lost";
}

Result<std::string> apply_thermal(Change& change) {
  std::optional<int> wanted;
  if (!change.request.args.empty()) {
    const auto celsius = parse_number(change.request.args[0], "thermal", 1, 150);
    if (!celsius) return fail(celsius.error());
    wanted = static_cast<int>(*celsius);
  }
  int reached = 0;
  for_each_gpu(change, [&](sim::Gpu& gpu, unsigned) {
    sim::rebase(gpu, change.now_ns);
    gpu.disturbance.temperature_mc = 0;
    const int slowdown = gpu.thermal.threshold_c[threshold_slowdown];
    const bool known = slowdown != sim::threshold_not_supported;
    reached = wanted.value_or(known ? slowdown + 1 : hot_where_unknown);
    const double now = sim::activity(gpu, change.now_ns).temperature_c;
    gpu.disturbance.temperature_mc = static_cast<std::int32_t>(std::lround((reached - now) * 1000));
    gpu.disturbance.memory_temperature_mc = gpu.disturbance.temperature_mc;
  });
  return fmt::format("{} at {} degrees; clocks and reasons follow its thresholds",
                     gpu_words(change.gpus), reached);
}

Result<std::string> apply_power_brake(Change& change) {
  for_each_gpu(change, [&](sim::Gpu& gpu, unsigned) {
    sim::rebase(gpu, change.now_ns);
    gpu.disturbance.clocks_event_reasons |= hardware_slowdown | power_brake_slowdown;
    gpu.disturbance.sm_clock_limit_mhz = gpu.clocks.max_mhz[1] / 2;
  });
  return "external power brake on " + gpu_words(change.gpus) + ": clocks at half";
}

Result<std::string> apply_nvlink_down(Change& change) {
  const unsigned link = change.request.link.value_or(0);
  if (auto there = need_links(change, link); !there) return fail(there.error());
  for_each_gpu(change, [&](sim::Gpu& gpu, unsigned row) {
    const unsigned code = gpu.links[link].version >= nvlink5_code ? 149 : 74;
    take_link_down(change, row, link);
    raise_xid(change, row, code, link);
  });
  return fmt::format("NVLink {} of {} is down", link, gpu_words(change.gpus));
}

}  // namespace stoker::simnode
