// Analyzer stage: which objects of a cluster are looked at by themselves. What a controller made of a template that is
// looked at would tell the same once more for every pod.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "catalog/yaml/view.h"

namespace stoker::lint {

enum class Look : std::uint8_t {
  itself,
  by_owner,  // its controller's kind is looked at
  as_twin,   // another of the same controller with the same images and GPUs was looked at
  ended,     // a pod or job that has ended: nothing can be done about it any more
};

class Owners {
 public:
  // All objects of this kind were looked at. To be told before the objects that they make are asked about.
  void add_kind(std::string group, std::string kind);

  // Of `object`; remembers it as one that was looked at where it says `itself`.
  Look look_at(yaml::View object);

 private:
  std::set<std::pair<std::string, std::string>> kinds_;
  std::set<std::string> seen_;  // by controller and shape
};

// The owner that controls `object` (metadata.ownerReferences with controller: true); nothing: none does.
yaml::View controller_of(yaml::View object);

}  // namespace stoker::lint
