// Device stage: tells several listeners the same, one after the other.
#pragma once

#include <vector>

#include "device/api.h"

namespace stoker::device {

class Tee final : public Listener {
 public:
  // All of them must outlive this.
  explicit Tee(std::vector<Listener*> next) : next_(std::move(next)) {}

  void on_status(const SourceStatus& status) override {
    for (Listener* next : next_) next->on_status(status);
  }
  void on_driver(const DriverInfo& driver) override {
    for (Listener* next : next_) next->on_driver(driver);
  }
  void on_inventory(const std::vector<GpuInfo>& gpus) override {
    for (Listener* next : next_) next->on_inventory(gpus);
  }
  void on_readings(const PciAddress& gpu, const std::vector<TargetReading>& readings) override {
    for (Listener* next : next_) next->on_readings(gpu, readings);
  }
  void on_processes(const PciAddress& gpu, const Reading& outcome,
                    const std::vector<ProcessInfo>& processes) override {
    for (Listener* next : next_) next->on_processes(gpu, outcome, processes);
  }
  void on_gpu_state(const PciAddress& gpu, GpuState state, const std::string& detail) override {
    for (Listener* next : next_) next->on_gpu_state(gpu, state, detail);
  }
  void on_costs(const PciAddress& gpu, const std::vector<CallCost>& costs) override {
    for (Listener* next : next_) next->on_costs(gpu, costs);
  }
  void on_xid(const PciAddress& gpu, std::uint32_t xid, MonotonicTime at) override {
    for (Listener* next : next_) next->on_xid(gpu, xid, at);
  }

 private:
  const std::vector<Listener*> next_;
};

}  // namespace stoker::device
