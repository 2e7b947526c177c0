#include "fabric/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace stoker::fabric {
namespace {

constexpr std::size_t most_names = 10;  // cables that evidence lists

// What fails as one: a switch, or the adapters of a host, whose descriptions are "HOST DEVICE"
// (rdma-ndd(8) sets "%h %d").
struct Group {
  std::string name;
  Guid node = 0;  // the switch, or the first adapter
  std::set<Guid> members;
  std::vector<Cable> cables;
};

std::string host_of(const std::string& description) {
  return description.substr(0, description.rfind(' '));
}

class NodeFold {
 public:
  NodeFold(const Look& look, const Layout& layout, Signs& signs) : look_(look), signs_(signs) {
    for (const Sweep* sweep : {&look.now, look.reference()}) {
      if (sweep != nullptr) add_nodes(*sweep, layout);
    }
    for (auto& [name, group] : groups_) {
      for (const Guid member : group.members) of_node_.emplace(member, &group);
    }
    add_cables();
  }

  std::vector<Told> fold() && {
    std::vector<Group*> order;
    order.reserve(groups_.size());
    for (auto& [name, group] : groups_) order.push_back(&group);
    std::ranges::sort(order, [](const Group* a, const Group* b) {
      return std::pair(b->cables.size(), a->name) < std::pair(a->cables.size(), b->name);
    });
    for (const Group* group : order) {
      fold_one(*group, Verdict::down, Verdict::node_missing);
      fold_one(*group, Verdict::unread, Verdict::node_unread);
      fold_one(*group, Verdict::flapping, Verdict::node_restarted);
    }
    return std::move(told_);
  }

 private:
  void add_nodes(const Sweep& sweep, const Layout& layout) {
    for (const auto& [guid, node] : sweep.nodes) {
      if (&sweep != &look_.now && layout.replaced.contains(guid)) continue;
      const bool host = node.kind == NodeKind::adapter && node.name.find(' ') != std::string::npos;
      const std::string key = host ? "host " + host_of(node.name) : guid_text(guid);
      Group& group = groups_[key];
      if (group.members.empty()) {
        group.name = host ? host_of(node.name) : look_.name_of(guid);
        group.node = guid;
      }
      group.members.insert(guid);
    }
  }

  // Those that are there, and those that have a sign (of the reference).
  void add_cables() {
    std::set<Cable> all;
    for (const Cable& cable : cables_of(look_.now)) all.insert(cable);
    for (const auto& [cable, signs] : signs_) all.insert(cable);
    for (const Cable& cable : all) {
      const std::set<Group*> both = {group_of(cable.one.node), group_of(cable.other.node)};
      for (Group* group : both) {
        if (group != nullptr) group->cables.push_back(cable);
      }
    }
  }
  Group* group_of(Guid node) {
    const auto found = of_node_.find(node);
    return found == of_node_.end() ? nullptr : found->second;
  }

  const Sign* sign_of(const Cable& cable, Verdict verdict) const {
    const auto found = signs_.find(cable);
    if (found == signs_.end()) return nullptr;
    const auto sign = std::ranges::find(found->second, verdict, &Sign::verdict);
    return sign == found->second.end() ? nullptr : &*sign;
  }

  void fold_one(const Group& group, Verdict each, Verdict whole) {
    constexpr std::size_t fewest = 2;
    std::vector<Cable> cables;
    std::set<std::uint64_t> times;
    for (const Cable& cable : group.cables) {
      if (taken_.contains({cable, each})) continue;
      const Sign* sign = sign_of(cable, each);
      const auto blames = [&](Guid node) { return group.members.contains(node); };
      if (sign == nullptr || std::ranges::none_of(sign->blamed, blames)) return;
      cables.push_back(cable);
      times.insert(sign->times);
    }
    // A node that restarts takes all of its links down equally often; cables do so by chance.
    if (cables.size() < fewest || times.size() != 1) return;
    tell(group, each, whole, cables, *times.begin());
  }

  void tell(const Group& group, Verdict each, Verdict whole, const std::vector<Cable>& cables,
            std::uint64_t times) {
    Told told{.verdict = whole, .cables = cables, .node = group.node, .finding = {}};
    told.finding = finding_of(whole, {EntityKind::node, group.name});
    told.finding.message = message_of(group, whole, cables.size(), times);
    if (whole == Verdict::node_missing) told.finding.severity = Severity::critical;
    told.finding.evidence.push_back(fmt::format("GUID {}", guid_text(group.node)));
    for (const Cable& cable : cables) {
      if (told.finding.evidence.size() <= most_names) {
        told.finding.evidence.push_back(
            fmt::format("{} {}", look_.cable_text(cable), sign_of(cable, each)->message));
      }
      taken_.insert({cable, each});
    }
    if (cables.size() > most_names) {
      told.finding.evidence.push_back(fmt::format("and {} more", cables.size() - most_names));
    }
    for (const Cable& cable : cables) {
      std::erase_if(signs_[cable], [&](const Sign& sign) { return sign.verdict == each; });
      if (signs_[cable].empty()) signs_.erase(cable);
    }
    told_.push_back(std::move(told));
  }

  static std::string message_of(const Group& group, Verdict whole, std::size_t cables,
                                std::uint64_t times) {
    switch (whole) {
      case Verdict::node_missing:
        return fmt::format("{} is not reached: all {} links to it are down.", group.name, cables);
      case Verdict::node_unread:
        return fmt::format("{} does not answer: {} of its links are up, and not known to be good.",
                           group.name, cables);
      default:
        return fmt::format("All {} links of {} went down {}.", cables, group.name,
                           times == 1 ? "once" : fmt::format("{} times", times));
    }
  }

  const Look& look_;
  Signs& signs_;
  std::map<std::string, Group> groups_;
  std::map<Guid, Group*> of_node_;
  std::set<std::pair<Cable, Verdict>> taken_;
  std::vector<Told> told_;
};

}  // namespace

Finding finding_of(Verdict verdict, Entity entity) {
  const VerdictRow& row = row_of(verdict);
  Finding finding;
  finding.rule = row.rule;
  finding.entity = std::move(entity);
  finding.cause = row.cause;
  finding.action = row.action;
  finding.fix = row.fix;
  finding.source = row.source;
  return finding;
}

std::vector<Told> fold_nodes(const Look& look, const Layout& layout, Signs& signs) {
  return NodeFold(look, layout, signs).fold();
}

}  // namespace stoker::fabric
