#include "device/probe/held_messages.h"

#include <iterator>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

namespace stoker::device::probe {
namespace {

// What newer messages have said; asked from the newest to the oldest.
class Newer {
 public:
  // Takes out of `message` what a newer one says; true if nothing is left of it.
  bool supersedes(Message& message) {
    if (auto* readings = std::get_if<Readings>(&message)) {
      std::erase_if(readings->readings, [&](const TargetReading& told) {
        return !readings_.emplace(readings->gpu, told.target, told.field).second;
      });
      return readings->readings.empty();
    }
    if (const auto* told = std::get_if<Processes>(&message)) {
      return !processes_.insert(told->gpu).second;
    }
    if (const auto* told = std::get_if<Costs>(&message)) return !costs_.insert(told->gpu).second;
    return false;
  }

 private:
  std::set<std::tuple<PciAddress, Target, FieldId>> readings_;
  std::set<PciAddress> processes_;
  std::set<PciAddress> costs_;
};

}  // namespace

void HeldMessages::hold(Message message) {
  if (held_.size() >= most) drop_superseded();
  if (held_.size() >= most) held_.erase(held_.begin());
  held_.push_back(std::move(message));
}

void HeldMessages::drop_superseded() {
  Newer newer;
  std::vector<Message> kept;
  for (Message& message : std::ranges::reverse_view(held_)) {
    if (!newer.supersedes(message)) kept.push_back(std::move(message));
  }
  held_.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
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
