// Simulated node: the files that a kernel and a driver would show, below one folder.
#pragma once

#include <string>

#include "base/result.h"
#include "device/sim/state.h"
#include "device/simnode/kernel_log.h"
#include "device/simnode/machine.h"

namespace stoker::simnode {

// Writes everything below `root`. fake_root_pci.cpp, fake_root_driver.cpp, fake_root_infiniband.cpp and
// fake_root_processes.cpp hold the parts.
Result<void> write_root(const Machine& machine, const sim::State& state, const std::string& root);

Result<void> write_pci(const Machine& machine, const sim::State& state, const std::string& root);
Result<void> write_driver(const Machine& machine, const sim::State& state, const std::string& root);
Result<void> write_infiniband(const Machine& machine, const std::string& root);
// Gives each process of `state` that Linux can't have (os::pid_max_limit) its /proc/<pid>, and takes
// away those of processes that are gone. One that runs on keeps its files.
Result<void> write_processes(const sim::State& state, const std::string& root);

// The link files of a GPU's PCI device: as its facts say, or what sysfs shows for a device that does
// not answer any more ("Unknown", 63 lanes: all bits set).
Result<void> write_pci_link(const sim::PciFacts& pci, bool answers, const std::string& root);

PciAddress address_of(const sim::PciFacts& pci);
// Below a root: "/sys/bus/pci/devices/0000:1b:00.0", "/proc/driver/nvidia/gpus/0000:1b:00.0".
std::string pci_folder(const PciAddress& pci);
std::string driver_folder(const PciAddress& pci);

// What the module says when it is loaded, as captured.
std::vector<KernelLine> load_lines(const std::string& driver_version);

}  // namespace stoker::simnode
