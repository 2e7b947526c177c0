#include "like_problems.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace stoker::app {
namespace {

constexpr std::size_t most_kinds = 1000;  // a job's user chooses names

}  // namespace

void Problems::add(std::string what, std::string why) {
  auto known = std::ranges::find(groups_, why, &Group::why);
  if (known == groups_.end()) {
    if (groups_.size() >= most_kinds) return;
    groups_.push_back({.why = std::move(why), .named = {}, .count = 0});
    known = std::prev(groups_.end());
  }
  if (std::ranges::find(known->named, what) != known->named.end()) return;
  ++known->count;
  if (!what.empty() && known->named.size() < most_named) known->named.push_back(std::move(what));
}

std::vector<std::string> Problems::lines() const {
  std::vector<std::string> out;
  for (const auto& group : groups_) {
    if (out.size() + 1 == most_lines && groups_.size() > most_lines) {
      out.push_back(fmt::format("{} more of other kinds", groups_.size() - out.size()));
      break;
    }
    auto who = fmt::format("{}", fmt::join(group.named, ", "));
    if (!group.named.empty() && group.count > group.named.size())
      who += fmt::format(" and {} more", group.count - group.named.size());
    out.push_back(who.empty() ? group.why : fmt::format("{}: {}", who, group.why));
  }
  return out;
}

}  // namespace stoker::app
