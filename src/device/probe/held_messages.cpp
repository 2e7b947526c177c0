#include "device/probe/held_messages.h"

#include <utility>

namespace stoker::device::probe {

void HeldMessages::hold(Message message) {
  if (held_.size() < most) held_.push_back(std::move(message));
}

std::vector<Message> HeldMessages::take() {
  std::erase_if(held_, [this](const Message& message) {
    const auto* xid = std::get_if<Xid>(&message);
    if (xid == nullptr) return false;
    const auto told = told_.find({xid->gpu, xid->xid});
    if (told == told_.end() || told->second == 0) return false;
    --told->second;
    return true;
  });
  told_.clear();
  return std::exchange(held_, {});
}

}  // namespace stoker::device::probe
