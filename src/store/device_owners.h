// Store stage: whose a GPU, a MIG instance or a process is, as a snapshot's attribution has it. Pure;
// what is not known has a reason, and nobody is named on a guess.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/attribution.h"
#include "store/snapshot.h"

namespace stoker::store {

// nullptr: not known, and why_no_owner() says why. Pointers live as long as the snapshot's
// attribution.
const ProcessOwner* owner_of(const Snapshot& snapshot, std::uint32_t pid);
// ok where the process's owner is known; no_source where nothing looks for owners (a replay).
Reason why_no_owner(const Snapshot& snapshot, std::uint32_t pid);

// Do the containers that hold devices stand in the snapshot? ok: one that nobody is named for is held
// by none.
Reason why_no_holds(const Snapshot& snapshot);
// Of the GPU or MIG instance with this UUID; empty also where why_no_holds() is not ok.
const std::vector<DeviceHold>& holds_of(const Snapshot& snapshot, const std::string& uuid);

// Which part of a card is meant.
struct CardPart {
  std::optional<std::uint32_t> gpu_instance;      // none: the card, without its MIG devices
  std::optional<std::uint32_t> compute_instance;  // none: the whole GPU instance
};

struct DeviceOwner {
  const DeviceHold* hold = nullptr;  // the first of its container; nullptr: a job outside of those
  std::string replicas;              // of all of its holds, "1,3"; empty: no shares
  const SlurmJob* job = nullptr;     // nullptr: none is known to work there
  friend bool operator==(const DeviceOwner&, const DeviceOwner&) = default;
};

// Who has this part: every container that holds it, and every Slurm job that has a process on it, no
// two alike. A job stands beside the container that its process is known to be in, else by itself.
// Sorted by container, then by job; those without a container last.
std::vector<DeviceOwner> owners_of(const Snapshot& snapshot, const GpuSnapshot& gpu,
                                   const CardPart& part);

}  // namespace stoker::store
