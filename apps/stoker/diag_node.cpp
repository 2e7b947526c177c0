#include "diag_node.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "os/node_devices.h"
#include "settings_parts.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr Milliseconds sample_period{200};
// A probe is killed 120 s after its call, and then only one that is stuck in the kernel is left.
constexpr Nanoseconds let_go_within = Seconds(125);
constexpr Nanoseconds told_after = Seconds(2);

// Cheap calls five times a second, and the rest as always: a run is over before they come again.
config::Settings often(config::Settings settings) {
  settings.set(config::OptionId::sample_period_cheap, Nanoseconds(sample_period), {});
  return settings;
}

// Has this card told what level 1 judges, or why not?
bool is_read(const store::GpuSnapshot& gpu) {
  if (gpu.state != device::GpuState::present) return true;
  return gpu.process_outcome.reason != Reason::pending &&
         gpu.readings.get(FieldId::power).reason != Reason::pending;
}

bool is_known(const store::Snapshot& snapshot) {
  switch (snapshot.source.state) {
    case device::SourceState::starting: return false;
    case device::SourceState::running:
      return std::ranges::all_of(snapshot.gpus, is_read) && snapshot.driver.has_value();
    default: return true;
  }
}

}  // namespace

// Keeps what belongs to the load of each card, as it is read.
class DiagNode::Sampled final : public device::PartListener {
 public:
  void on_inventory(const std::vector<device::GpuInfo>& gpus) override EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    for (const auto& gpu : gpus) index_[gpu.pci] = gpu.index;
  }
  void on_readings(const PciAddress& gpu,
                   const std::vector<device::TargetReading>& readings) override EXCLUDES(mutex_) {
    diag::LoadSample sample;
    for (const auto& one : readings) {
      if (one.target.kind != EntityKind::gpu || !one.reading.ok()) continue;
      const double value = as_double(one.reading.value);
      const auto before = sample.at;
      sample.at = one.reading.taken_at;
      switch (one.field) {
        case FieldId::power: sample.power_watts = value; break;
        case FieldId::sm_clock: sample.sm_clock_mhz = value; break;
        case FieldId::temperature: sample.temperature_celsius = value; break;
        case FieldId::throttle_reasons:
          sample.throttle_reasons = static_cast<std::uint64_t>(value);
          break;
        default: sample.at = before; break;
      }
    }
    const MutexLock lock(mutex_);
    if (sample.at.since_boot.count() != 0 && index_.contains(gpu))
      samples_[index_.at(gpu)].push_back(sample);
  }
  [[nodiscard]] diag::LoadSamples samples() const EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return samples_;
  }

 private:
  mutable Mutex mutex_;
  std::map<PciAddress, std::uint32_t> index_ GUARDED_BY(mutex_);
  diag::LoadSamples samples_ GUARDED_BY(mutex_);
};

Result<std::unique_ptr<DiagNode>> DiagNode::open(const config::Settings& settings,
                                                 const std::string& data,
                                                 std::function<bool()> leave_it) {
  const auto chosen = often(settings);
  auto parts = make_source(chosen, data);
  if (!parts) return fail(parts.error());
  const auto options = store_options(chosen, *parts);
  return std::unique_ptr<DiagNode>(new DiagNode(std::move(*parts), options, std::move(leave_it)));
}

DiagNode::DiagNode(SourceParts parts, const store::StoreOptions& options,
                   std::function<bool()> leave_it)
    : leave_it_(std::move(leave_it)),
      profile_(parts.simulated_profile),
      env_(std::move(parts.env)),
      store_(env_->clock(), options),
      sampled_(std::make_unique<Sampled>()),
      told_({&store_, sampled_.get()}),
      derive_(told_),
      source_(std::move(parts.source)) {
  // Where the cards are, so that one of which the driver does not tell has a name too.
  store_.on_node_devices(os::read_node_devices(*env_));
  source_->start(derive_);
}

DiagNode::~DiagNode() {
  source_->release();
  const auto began = system_clock().monotonic();
  bool told = false;
  while (store_.snapshot().source.state != device::SourceState::released && !leave_it_()) {
    const auto waited = system_clock().monotonic() - began;
    if (waited > let_go_within) break;
    if (waited > told_after && !std::exchange(told, true))
      complain("a call of the driver has not come back; the probe ends with it (Ctrl-C leaves it)");
    std::this_thread::sleep_for(Milliseconds(20));
  }
  source_->stop();  // warns of one that is left behind
}

store::Snapshot DiagNode::wait(Nanoseconds limit, const std::function<bool()>& stop) const {
  const auto began = system_clock().monotonic();
  while (true) {
    auto snapshot = store_.snapshot();
    if (is_known(snapshot) || system_clock().monotonic() - began > limit || stop()) return snapshot;
    std::this_thread::sleep_for(Milliseconds(20));
  }
}

store::Snapshot DiagNode::with_new_processes(Nanoseconds limit,
                                             const std::function<bool()>& stop) const {
  const auto began = system_clock().monotonic();
  const auto is_old = [&](const store::GpuSnapshot& gpu) {
    return gpu.state == device::GpuState::present && gpu.process_outcome.taken_at < began;
  };
  while (true) {
    auto snapshot = store_.snapshot();
    if (std::ranges::none_of(snapshot.gpus, is_old)) return snapshot;
    const auto now = system_clock().monotonic();
    if (now - began > limit || snapshot.source.state != device::SourceState::running || stop()) {
      for (auto& gpu : snapshot.gpus) {
        if (is_old(gpu)) gpu.process_outcome = Reading::none(Reason::pending, now);
      }
      return snapshot;
    }
    std::this_thread::sleep_for(Milliseconds(20));
  }
}

diag::LoadSamples DiagNode::samples() const { return sampled_->samples(); }

}  // namespace stoker::app
