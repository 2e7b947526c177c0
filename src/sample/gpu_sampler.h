// Sample stage, probe side: makes the due calls of one GPU, announces each before it is made, and
// measures what it costs.
#pragma once

#include <array>

#include "device/probe/child.h"
#include "sample/schedule.h"

namespace stoker::sample {

class GpuSampler final : public device::probe::Sampler {
 public:
  // What `parts` refers to must outlive this. One thread only.
  explicit GpuSampler(const device::probe::SamplerParts& parts,
                      const Clock& clock = system_clock());

  void round(device::probe::Round& round) override;

 private:
  void read_due(const std::vector<std::size_t>& due, device::probe::Round& round);
  void list_processes(device::probe::Round& round);
  void refresh(device::probe::Round& round);
  // Adds one call of `getter` that began at `began`; how long it took.
  Nanoseconds account(Getter getter, MonotonicTime began);
  void tell_costs(device::probe::Round& round);

  device::Gpu& gpu_;
  device::CallSlot& slot_;
  const Clock& clock_;
  Schedule schedule_;
  std::array<device::CallCost, static_cast<std::size_t>(Getter::count_)> costs_;
};

}  // namespace stoker::sample
