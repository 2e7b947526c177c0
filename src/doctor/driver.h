// Analyzer stage: which driver a node runs, has, and will have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/exam.h"

namespace stoker::doctor {

// The version of the module in the kernel; nullopt: none is loaded. From /proc/driver/nvidia/version, else
// /sys/module/nvidia/version.
std::optional<std::string> loaded_driver(Exam& exam);

// NVIDIA's libraries of one kind that lie where the loader looks.
struct DriverLibrary {
  std::string path;     // "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.159.04"
  std::string version;  // "580.159.04"
};
// Files `stem`.so.VERSION with a version of at least two parts, e.g. of "libnvidia-ml"; a link is followed once, and
// what several links lead to is told once.
std::vector<DriverLibrary> driver_libraries(Exam& exam, std::string_view stem);

// A PCI function of NVIDIA's, as sysfs tells it.
struct PciFunction {
  std::string address;  // "0000:18:00.0"
  std::string folder;   // in /sys/bus/pci/devices
};
// NVIDIA's display and 3D controllers (class 0x0300, 0x0302), and its NVSwitches (class 0x0680).
std::vector<PciFunction> nvidia_gpus(Exam& exam);
std::vector<PciFunction> nvidia_switches(Exam& exam);
// "nvidia", "nouveau", "vfio-pci"; empty: none drives it.
std::string driver_of(Exam& exam, const PciFunction& function);

// Names of the folders in /proc/driver/nvidia/gpus with their lines "Key: value".
struct DrivenGpu {
  std::string address;  // "0000:18:00.0"
  std::string model;    // "NVIDIA H100 80GB HBM3"
  std::string minor;    // "0"
};
std::vector<DrivenGpu> driven_gpus(Exam& exam);

// The driver is a container's (the GPU operator's), which brings module and libraries of its own as it starts.
bool has_driver_container(Exam& exam);

// Is `command` (of /proc/PID/comm, at most 15 letters: proc_pid_comm(5)) one of the running processes?
bool is_running(Exam& exam, std::string_view command);

}  // namespace stoker::doctor
