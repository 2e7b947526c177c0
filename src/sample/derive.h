// Sample stage, agent side: fields that no call delivers but that follow from others: energy
// (integrated from power, reconciled with the driver's counter), NVLink payload of both directions,
// NVLinks that are up, and the last Xid across probes. Passes everything on and adds the derived
// readings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/api.h"
#include "sample/energy.h"

namespace stoker::sample {

// What is kept of one GPU between its readings. Pure.
class GpuDerivation {
 public:
  explicit GpuDerivation(const device::GpuInfo& gpu) : uuid_(gpu.uuid) { update(gpu); }

  // The same card, perhaps with other links.
  void update(const device::GpuInfo& gpu) { has_links_ = !gpu.nvlinks.empty(); }
  [[nodiscard]] const std::string& uuid() const { return uuid_; }

  // Appends what follows from one batch of readings: nothing for a field of which the batch says
  // nothing new.
  void derive(const std::vector<device::TargetReading>& batch,
              std::vector<device::TargetReading>& out);

  // A probe counts from its own start; a new one says "none yet" of a GPU whose last Xid is known.
  void on_xid(std::uint32_t xid) { last_xid_ = xid; }
  void put_last_xid(std::vector<device::TargetReading>& batch) const;

 private:
  const std::string uuid_;
  bool has_links_ = false;
  EnergyCounter energy_;
  RisingCounter nvlink_kib_;
  std::uint32_t last_xid_ = 0;  // 0: none
};

// Stands between a Source and the store. Not thread-safe: a Source tells one thing at a time.
class Derive final : public device::Listener {
 public:
  // `next` must outlive this.
  explicit Derive(device::Listener& next) : next_(next) {}

  void on_status(const device::SourceStatus& status) override;
  void on_driver(const device::DriverInfo& driver) override;
  void on_inventory(const std::vector<device::GpuInfo>& gpus) override;
  void on_readings(const PciAddress& gpu,
                   const std::vector<device::TargetReading>& readings) override;
  void on_processes(const PciAddress& gpu, const Reading& outcome,
                    const std::vector<device::ProcessInfo>& processes) override;
  void on_gpu_state(const PciAddress& gpu, device::GpuState state,
                    const std::string& detail) override;
  void on_costs(const PciAddress& gpu, const std::vector<device::CallCost>& costs) override;
  void on_xid(const PciAddress& gpu, std::uint32_t xid, MonotonicTime at) override;

 private:
  device::Listener& next_;
  std::map<PciAddress, GpuDerivation> gpus_;  // by address, each of one card
  std::vector<device::TargetReading> batch_;  // kept for its memory
};

}  // namespace stoker::sample
