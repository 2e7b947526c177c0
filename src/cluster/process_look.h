// Cluster stage: what /proc says about the processes on this node's GPUs, look by look. Who was looked
// at before keeps what can't change (its start, its environment), so a look costs a few small files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cluster/host_work.h"
#include "cluster/owners.h"
#include "model/attribution.h"
#include "os/process_facts.h"
#include "os/user_names.h"
#include "store/snapshot.h"

namespace stoker::cluster {

// One thread only.
class ProcessLook {
 public:
  struct Seen {
    AttributionSource source;
    std::map<std::uint32_t, ProcessEvidence> processes;
    bool anybody_new = false;  // somebody is here who was not in the look before
  };

  // `env` must outlive this.
  explicit ProcessLook(const os::Env& env) : env_(env), users_(env) {}

  // Of the processes in the snapshot's lists. Left out is whom nobody can name: a pid whose process
  // began after a list that has it, or that ends while it is looked at; and all of them where this
  // Env's /proc has other pids than the driver.
  Seen look(const store::Snapshot& snapshot);

 private:
  struct Known {
    MonotonicTime latest_start;
    std::optional<std::map<std::string, std::string>> environment;  // none: not read yet
    HostWorkWatch work;
  };
  struct Outcome;
  // `rests`: its GPUs do nothing, so what it does itself is of interest.
  std::optional<ProcessEvidence> evidence_of(std::uint32_t pid, MonotonicTime listed_at, bool rests,
                                             Outcome& outcome);
  HostWork work_of(const os::ProcessId& id, bool rests, Known& known) const;
  const std::map<std::string, std::string>& environment_of(const os::ProcessId& id, Known& known,
                                                           Outcome& outcome);

  // Constant after construction.
  const os::Env& env_;

  os::UserNames users_;
  std::map<os::ProcessId, Known> known_;
};

}  // namespace stoker::cluster
