// Device stage: what the supervision knows of each GPU: whether it is told as present, lost or hung,
// which of them the next probe has to leave alone, and when to look for one again. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "device/api.h"
#include "device/probe/timing.h"
#include "model/pci_address.h"

namespace stoker::device::probe {

using ProbeId = std::uint32_t;

struct GpuTold {
  PciAddress gpu;
  GpuState state = GpuState::present;
  std::string detail;
};

class GpuBoard {
 public:
  explicit GpuBoard(const Timing& timing) : timing_(timing) {}

  // It is there, or was.
  void add(const PciAddress& gpu) { gpus_.try_emplace(gpu); }
  // A probe has opened it under this index of NVML's.
  void add(const PciAddress& gpu, std::uint32_t index) { gpus_[gpu].index = index; }
  // The GPU that had this index last.
  [[nodiscard]] std::optional<PciAddress> at_index(std::uint32_t index) const;
  // Each of the next three tells when it changes what was told.
  // A call of `holder` has not returned.
  void hung(const PciAddress& gpu, const std::string& detail);
  void lost(const PciAddress& gpu, const std::string& detail, MonotonicTime now);
  // It gave a reading, or its call came back.
  void answers(const PciAddress& gpu, const std::string& detail);

  // Its call is beyond patience: later probes leave it alone until a look proves it well.
  void exclude(const PciAddress& gpu, ProbeId holder, MonotonicTime now);
  // Looked at and well: the next probe may have it. Should it hang again before it answers, the next
  // look comes as late as if it had not been well.
  void readmit(const PciAddress& gpu);
  // Looking at it does harm: the next look comes as late as any does.
  void postpone(const PciAddress& gpu);
  // Everything is tried again, except GPUs whose call is still held by a living probe of `living`.
  void readmit_all(const std::set<ProbeId>& living);

  [[nodiscard]] bool empty() const { return gpus_.empty(); }
  [[nodiscard]] GpuState state(const PciAddress& gpu) const;
  [[nodiscard]] std::vector<PciAddress> excluded() const;
  // Known and not excluded: what a probe that leaves the others alone opens.
  [[nodiscard]] std::vector<PciAddress> to_open() const;

  // The GPUs to look at now in a process of their own: lost ones first, else hung ones whose probe
  // is not in `living`. Empty: none is due. The next look is then planned: of both, ever more seldom.
  std::vector<PciAddress> take_due(MonotonicTime now, const std::set<ProbeId>& living);

  // What was told since the last call.
  std::vector<GpuTold> take_told();

 private:
  struct Gpu {
    std::optional<std::uint32_t> index;
    GpuState told = GpuState::present;
    bool excluded = false;
    ProbeId holder = 0;
    MonotonicTime look_at;
    Nanoseconds delay{0};
    MonotonicTime lost_at;
  };
  void tell(const PciAddress& address, Gpu& gpu, GpuState state, const std::string& detail);

  const Timing timing_;
  std::map<PciAddress, Gpu> gpus_;
  std::vector<GpuTold> told_;
};

}  // namespace stoker::device::probe
