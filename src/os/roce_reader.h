// Machine stage: the network devices below the node's RoCE ports: flow control, priorities, congestion control, counters.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "model/rdma_port.h"
#include "model/roce.h"
#include "os/env.h"
#include "os/ethtool.h"

namespace stoker::os {

// What asks the kernel other than by files; a test gives its own.
struct NetdevQuestions {
  std::function<Result<DcbSettings>(const std::string& netdev)> dcb;
  std::function<Result<PauseSettings>(const std::string& netdev)> pause;
  std::function<Result<NamedCounters>(const std::string& netdev, const WantedName& wanted)>
      counters;
};
// dcb.h and ethtool.h: of this process' network namespace.
NetdevQuestions kernel_questions();

// Reads again and again. A question that a device's driver has refused once is not asked of it again: cards make the kernel
// log an error at each refused read (rdma_ports.h). One that failed, as by a time-out, is. Below a bond or a VLAN are the devices that have queues and a wire: those
// are read. Asks drivers, each of which may take as long as it likes: not for a thread that somebody waits for.
class RoceReader {
 public:
  // `env` has to outlive this. `wanted`: which counters are kept.
  RoceReader(const Env& env, NetdevQuestions questions, WantedName wanted)
      : env_(env), questions_(std::move(questions)), wanted_(std::move(wanted)) {}

  // Of the Ethernet ports among `ports`.
  RoceLook read(const RdmaPorts& ports);

 private:
  struct Refusal {
    std::string reason;
    bool failed = false;  // rather than not supported
  };
  void ask(RoceNetdev& netdev);

  const Env& env_;
  const NetdevQuestions questions_;
  const WantedName wanted_;
  std::map<std::string, std::map<std::string, Refusal>> refused_;  // by netdev and question
};

}  // namespace stoker::os
