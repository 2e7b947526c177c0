#include "sample/gpu_sampler.h"

#include <algorithm>

namespace stoker::sample {

using device::InCall;
using device::probe::Round;

GpuSampler::GpuSampler(const device::probe::SamplerParts& parts, const Clock& clock)
    : gpu_(parts.gpu),
      slot_(parts.slot),
      clock_(clock),
      schedule_(gpu_fields(), parts.rates),
      costs_{} {
  for (std::size_t index = 0; index < costs_.size(); ++index) {
    costs_[index].getter = static_cast<Getter>(index);
  }
}

void GpuSampler::round(Round& round) {
  const std::vector<std::size_t>& due = schedule_.begin_round(clock_.monotonic());
  if (schedule_.refresh_due()) refresh(round);
  read_due(due, round);
  if (schedule_.processes_due()) {
    list_processes(round);
    tell_costs(round);
  }
  round.next = schedule_.next_round();
}

void GpuSampler::read_due(const std::vector<std::size_t>& due, Round& round) {
  for (const std::size_t index : due) {
    const CallGroup& group = schedule_.groups()[index];
    const MonotonicTime began = clock_.monotonic();
    {
      const InCall call(slot_, group.getter, began);
      gpu_.read(group.getter, group.fields, round.readings);
    }
    schedule_.measured(index, account(group.getter, began));
  }
}

void GpuSampler::list_processes(Round& round) {
  const MonotonicTime began = clock_.monotonic();
  {
    const InCall call(slot_, Getter::processes, began);
    round.process_outcome = gpu_.processes(round.processes);
  }
  account(Getter::processes, began);
}

void GpuSampler::refresh(Round& round) {
  const InCall call(slot_, Getter::mig_mode, clock_.monotonic());
  if (!gpu_.refresh()) return;
  round.info_changed = true;
  schedule_.read_fixed_again();
}

Nanoseconds GpuSampler::account(Getter getter, MonotonicTime began) {
  const Nanoseconds took = clock_.monotonic() - began;
  device::CallCost& cost = costs_.at(static_cast<std::size_t>(getter));
  ++cost.calls;
  cost.total += took;
  cost.longest = std::max(cost.longest, took);
  cost.last = took;
  return took;
}

void GpuSampler::tell_costs(Round& round) {
  for (const device::CallCost& cost : costs_) {
    if (cost.calls > 0) round.costs.push_back(cost);
  }
}

}  // namespace stoker::sample
