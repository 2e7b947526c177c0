// Device stage: what a probe told before it was the one whose messages count. It is passed on when it
// takes over, since its first round has fields that are read seldom.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "device/probe/protocol.h"

namespace stoker::device::probe {

class HeldMessages {
 public:
  // Where there are as many, what a later message says anew is let go, and then the oldest.
  static constexpr std::size_t most = 512;

  void hold(Message message);
  // The probe whose messages count has told this Xid: the driver tells it to everyone who waits, and it
  // is not to be counted twice.
  void told(const Xid& xid) { ++told_[{xid.gpu, xid.xid}]; }
  // What is held and was not told by another; then nothing is held.
  std::vector<Message> take();

 private:
  void drop_superseded();

  std::vector<Message> held_;
  std::map<std::pair<PciAddress, std::uint32_t>, int> told_;
};

}  // namespace stoker::device::probe
