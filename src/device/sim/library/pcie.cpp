// Simulated library: the PCIe link.
#include <cmath>

#include "device/sim/library/gate.h"

namespace stoker::sim {
namespace {

Return tell_fact(const Function& function, Device device, unsigned* out,
                 std::uint32_t PciFacts::* fact) {
  return tell(function, device, out, [&](const View& view) { return view.gpu.pci.*fact; });
}

}  // namespace

extern "C" {

Return nvmlDeviceGetCurrPcieLinkGeneration(Device device, unsigned* generation) {
  return tell_fact(fn(__func__), device, generation, &PciFacts::generation);
}
Return nvmlDeviceGetMaxPcieLinkGeneration(Device device, unsigned* max_link_gen) {
  return tell_fact(fn(__func__), device, max_link_gen, &PciFacts::max_generation);
}
Return nvmlDeviceGetGpuMaxPcieLinkGeneration(Device device, unsigned* max_link_gen_device) {
  return tell_fact(fn(__func__), device, max_link_gen_device, &PciFacts::gpu_max_generation);
}
Return nvmlDeviceGetCurrPcieLinkWidth(Device device, unsigned* curr_link_width) {
  return tell_fact(fn(__func__), device, curr_link_width, &PciFacts::width);
}
Return nvmlDeviceGetMaxPcieLinkWidth(Device device, unsigned* max_link_width) {
  return tell_fact(fn(__func__), device, max_link_width, &PciFacts::max_width);
}
Return nvmlDeviceGetPcieSpeed(Device device, unsigned* pcie_speed) {
  return tell_fact(fn(__func__), device, pcie_speed, &PciFacts::speed_mtps);
}
Return nvmlDeviceGetPcieLinkMaxSpeed(Device device, unsigned* max_speed) {
  return tell_fact(fn(__func__), device, max_speed, &PciFacts::max_speed_code);
}
Return nvmlDeviceGetPcieReplayCounter(Device device, unsigned* value) {
  return tell_fact(fn(__func__), device, value, &PciFacts::replays);
}

// In KB/s, over the 20 ms that the call takes on a real card.
Return nvmlDeviceGetPcieThroughput(Device device, PcieCounter counter, unsigned* value) {
  const bool known = counter == PcieCounter::tx_bytes || counter == PcieCounter::rx_bytes;
  return tell(fn(__func__), device, known ? value : nullptr, [&](const View& view) {
    const Activity now = view.activity();
    const double rate = counter == PcieCounter::tx_bytes ? now.pcie_tx_bytes_per_second
                                                         : now.pcie_rx_bytes_per_second;
    return std::lround(rate / 1000);
  });
}

}  // extern "C"
}  // namespace stoker::sim
