// Device stage, simulated: a whole node without a GPU. A SimNode is a folder: the state file that
// libstoker_sim_nvml.so maps, and a root with the files that a driver and a kernel would show
// (dev/kmsg, /sys/bus/pci, /sys/class/infiniband, /proc/driver/nvidia). Whoever holds one may break
// it; a library that runs on it sees that in its next call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/pci_address.h"

namespace stoker::simnode {

// What a node is made from: a built-in profile ("hgx-h100") or a machine file; exactly one is set.
struct Recipe {
  std::string profile;
  std::string machine_file;
  // Folder whose NAME.yaml stand before the built-in products and profiles; empty: none.
  std::string catalog_folder;
  // What the simulated driver calls itself; empty: what the profile says (580.159.04).
  std::string driver_version;
};

// One thing to break. Which arguments a fault takes stands in faults(); the rest stay empty.
struct FaultRequest {
  std::string name;               // "xid", "hang", ...
  std::vector<std::string> args;  // what follows the name: {"79"}
  std::string gpu = "0";          // index, UUID, PCI address, or "all"
  std::string call;               // NVML function, e.g. "nvmlDeviceGetPowerUsage"
  std::string delay;              // "2s", "150ms"
  std::string return_code;        // "GPU_IS_LOST" or 15
  std::optional<unsigned> link;   // NVLink number
};

struct SimGpu {
  unsigned index = 0;
  std::string uuid;
  std::string product;  // "h100-80gb"
  std::string name;     // "NVIDIA H100 80GB HBM3"
  PciAddress pci;
  std::string load;                 // "idle", "training", "inference", "hung"
  std::vector<std::string> faults;  // active ones, in words: "hang: every call"
  std::vector<std::string> migs;    // "1g.10gb gi=7 at 0:1"
  std::vector<unsigned> pids;
};

struct SimReport {
  std::string profile;
  std::string driver_version;
  std::string state_file;           // STOKER_SIM_STATE
  std::string root;                 // what Env is given for the devices' root
  std::vector<std::string> faults;  // of the whole driver: "global-lock", "driver-unload", ...
  std::vector<SimGpu> gpus;
};

// A simulated node on disk. Movable; one object may be used by one thread at a time, any number of
// processes may hold the same node.
class SimNode {
 public:
  // Makes DATA/sim. A node of the same recipe that is there already is taken over as it stands
  // (faults included); one of another recipe is refused. Everything is checked before anything is
  // written, and the node appears by one rename: nothing is left half made.
  static Result<SimNode> create(const Recipe& recipe, const std::string& data_folder);
  // The node that create() left in DATA/sim; not_found if there is none.
  static Result<SimNode> open(const std::string& data_folder);

  SimNode(const SimNode&) = delete;
  SimNode& operator=(const SimNode&) = delete;
  SimNode(SimNode&&) noexcept;
  SimNode& operator=(SimNode&&) noexcept;
  ~SimNode();

  [[nodiscard]] const std::string& state_file() const;  // DATA/sim/state
  [[nodiscard]] const std::string& root() const;        // DATA/sim/root

  // Breaks something; the answer says in one line what is so now. invalid_input for a fault or an
  // argument that does not exist, with what would be right; nothing is changed then.
  Result<std::string> inject(const FaultRequest& fault);
  // Takes every fault back, of one GPU or of "all" (then of the driver too). Counters stay: what
  // was counted has happened.
  Result<std::string> clear(const std::string& gpu);
  // "idle", "training", "inference", "hung", ...: load_kinds() lists them.
  Result<std::string> set_load(const std::string& kind, const std::string& gpu);

  [[nodiscard]] SimReport report() const;

 private:
  struct Impl;
  explicit SimNode(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// One row a fault: help, completion and the check of arguments all come from here.
struct FaultHelp {
  std::string name;     // "xid"
  std::string usage;    // "xid CODE [--gpu N]"
  std::string help;     // what happens, one or two sentences
  std::string example;  // "stoker sim inject --data DIR xid 79 --gpu 3"
};
std::vector<FaultHelp> faults();

std::vector<std::string> load_kinds();
// Names of the built-in profiles, e.g. for "there is no profile X; there are ...".
std::vector<std::string> profile_names();

// The folder with libnvidia-ml.so.1 of the simulated driver that belongs to this executable
// (<bin>/../lib/sim); not_found names the folder that was looked at.
Result<std::string> library_folder();

}  // namespace stoker::simnode
