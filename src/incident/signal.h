// Incident stage: what may open an incident or belong to one, whoever said it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "catalog/driver_version.h"
#include "incident/cause.h"
#include "model/event.h"
#include "model/finding.h"
#include "model/pci_address.h"
#include "store/snapshot.h"

namespace stoker::incident {

// What of a node an event has to be read with.
struct NodeView {
  struct Gpu {
    PciAddress pci;
    std::string uuid;
    std::string serial;
    std::uint32_t index = 0;
    bool answers = false;
    std::vector<std::string> programs;  // that run on it, as in Incident::programs
    std::vector<std::string> linked;    // addresses of the GPUs at the other ends of its NVLinks
    std::vector<PciAddress> ports;      // the PCIe port that it sits in; empty: not known
  };
  // Of RDMA devices that have one port: where they sit. A card's lines in the kernel log name that.
  std::map<std::string, PciAddress> nics;
  bool ports_known = true;  // false: how the RDMA ports are is not known now
  std::string hostname;
  std::string boot;      // boot id; empty: not known
  bool reading = false;  // the driver is being read
  std::optional<DriverVersion> driver;
  std::vector<Gpu> gpus;
  std::map<std::uint32_t, std::string>
      owners;  // by pid: "pod team-a/train-0", "job 4711", "user alice"
};
NodeView view_of(const store::Snapshot& snapshot, std::string boot);

struct Signal {
  Cause cause;
  Entity entity;
  std::string subject;  // of a program's fault, whose: see Incident::subject
  std::string about;
  std::string pci, serial, boot;
  Severity severity = Severity::warning;
  Action action = Action::observe;
  bool of_driver = false;  // the driver itself asks for the action
  WallTime at;
  std::string message;
  std::string explanation;
  std::string fix;
  std::string source;
  std::string evidence;
  std::vector<std::string> programs;  // as in Incident
  std::vector<std::string> linked;    // as in NodeView
  std::optional<Finding> finding;     // none: an event
};

// Xid 154 to "None": the driver asks for nothing any more.
bool says_recovered(const Event& event);

// What `event` means to this driver; nullptr: nothing that anybody has to be told of.
const Cause* cause_of(const Event& event, const std::optional<DriverVersion>& driver);

// nullopt: nothing that anybody has to be told of.
std::optional<Signal> signal_of(const Event& event, const NodeView& node, WallTime now);
std::optional<Signal> signal_of(const Finding& finding, const NodeView& node, WallTime now);

}  // namespace stoker::incident
