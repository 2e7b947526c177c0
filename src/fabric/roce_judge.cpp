// Of roce_ports.h: the findings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

#include "fabric/node_ports.h"
#include "fabric/port_kinds.h"
#include "fabric/roce_peers.h"
#include "fabric/roce_ports.h"
#include "fabric/roce_settings.h"
#include "fabric/roce_tables.h"

namespace stoker::fabric {
namespace {

// "Most of the time", of one priority: our choice, no document has one. More than all of it is no time at all: the card
// counts in another unit, or in steps longer than the looks are apart.
constexpr double most_of_the_time = 0.5;
constexpr double all_of_the_time = 1.1;
constexpr Nanoseconds shortest_for_shares = std::chrono::seconds(1);
constexpr double symbol_errors_a_bit = 1e-12;  // counters.def, symbol_error
constexpr std::uint64_t lost_packets = 10;     // hardware_counters.def

bool in(const std::optional<PriorityMask>& mask, std::optional<unsigned> priority) {
  return mask && priority && *priority < mask->size() && mask->test(*priority);
}

// Of one network device.
class RoceJudge {
 public:
  RoceJudge(const RoceLooks& looks, const RoceNetdev& netdev, std::vector<Finding>& out)
      : looks_(looks), netdev_(netdev), ports_(ports_on(netdev, looks.ports)), out_(out) {
    if (netdev.dcb) pfc_ = netdev.dcb->pfc;
    const RoceNetdev* before = same_netdev(looks.roce_before, netdev);
    if (before == nullptr) return;
    counts_ = roce_counts(*before, netdev);
    time_ = looks.roce.at - looks.roce_before->at;
  }

  void run() {
    judge_counts();
    judge_drops();
    judge_shares();
    judge_ecn();
    judge_trust();
    judge_map();
    judge_filter();
  }

 private:
  Finding& tell(RoceRule id, std::string message, std::vector<std::string> evidence) {
    return out_.emplace_back(roce_finding(id, roce_entity(netdev_, ports_),
                                          fmt::format("{}: {}", name(), message),
                                          std::move(evidence)));
  }

  [[nodiscard]] std::string name() const {
    return fmt::format("{} ({})", netdev_.netdev, fmt::join(netdev_.devices, ", "));
  }
  [[nodiscard]] std::string within() const { return " within " + format_duration(time_); }

  static std::string words_of(const RoceCount& count) {
    const RoceCounterRow* row = roce_counter(count.name);
    return fmt::format("{} {} ({})", amount(count.counted), row->words, count.name);
  }

  // What counters of that kind counted, each of them enough to be told.
  [[nodiscard]] std::vector<const RoceCount*> enough(RoceTells tells) const {
    std::vector<const RoceCount*> out;
    for (const RoceCount& count : counts_) {
      const RoceCounterRow* row = roce_counter(count.name);
      if (row->tells == tells && count.counted.least >= std::max<std::uint64_t>(row->too_many, 1))
        out.push_back(&count);
    }
    return out;
  }

  static std::vector<std::string> all_words(const std::vector<const RoceCount*>& counts) {
    std::vector<std::string> lines;
    lines.reserve(counts.size());
    for (const RoceCount* count : counts) lines.push_back(words_of(*count));
    return lines;
  }

  void tell_counts(RoceRule id, const std::vector<const RoceCount*>& counts) {
    if (counts.empty()) return;
    auto lines = all_words(counts);
    auto message = fmt::format("{}{}", fmt::join(lines, ", "), within());
    tell(id, std::move(message), std::move(lines));
  }

  void judge_counts() {
    tell_counts(RoceRule::sends_discarded, enough(RoceTells::sends_discarded));
    tell_counts(RoceRule::storm_near, enough(RoceTells::storm_near));
    tell_counts(RoceRule::storm, enough(RoceTells::storm));
    tell_counts(RoceRule::oversize, enough(RoceTells::oversize));
    tell_counts(RoceRule::pci, enough(RoceTells::pci));
    if (!told_elsewhere("link_downed"))
      tell_counts(RoceRule::link_down, enough(RoceTells::link_down));
    auto signals = enough(RoceTells::signal);
    const auto bits = std::ranges::find(counts_, "rx_bits_phy", &RoceCount::name);
    if (bits != counts_.end()) {
      std::erase_if(signals, [&](const RoceCount* count) {
        return count->name == "rx_pcs_symbol_err_phy" &&
               static_cast<double>(count->counted.least) <=
                   symbol_errors_a_bit * static_cast<double>(bits->counted.least);
      });
    }
    tell_counts(RoceRule::signal, signals);
  }

  // The RDMA port's own counter tells the same (port_rules.def).
  [[nodiscard]] bool told_elsewhere(std::string_view counter) const {
    return std::ranges::any_of(
        ports_, [&](const RdmaPort* port) { return counted_of(*port, {&counter, 1}) > 0; });
  }

  [[nodiscard]] std::uint64_t counted_of(const RdmaPort& port,
                                         std::span<const std::string_view> names) const {
    const RdmaPort* before = same_port(looks_.ports_before, port);
    if (before == nullptr) return 0;
    std::uint64_t most = 0;
    for (const PortCount& count : counted_on(*before, port)) {
      if (std::ranges::find(names, count.name) != names.end())
        most = std::max(most, count.counted.least);
    }
    return most;
  }

  void judge_drops() {
    auto drops = enough(RoceTells::priority_discards);
    std::vector<const RoceCount*> lossless;
    std::ranges::copy_if(drops, std::back_inserter(lossless), [&](const RoceCount* count) {
      return in(pfc_, priority_in(count->name));
    });
    if (!lossless.empty()) {
      tell_counts(RoceRule::lossless_drops, lossless);
      return;
    }
    std::ranges::copy(enough(RoceTells::discards), std::back_inserter(drops));
    const bool known = pfc_ && netdev_.pause;
    const bool can_stop_others = known && (pfc_->any() || netdev_.pause->sends);
    if (!drops.empty()) {
      const bool unguarded = known && !can_stop_others && in_use();
      tell_counts(unguarded ? RoceRule::lossy : RoceRule::discards, drops);
      return;
    }
    if (known && !can_stop_others && !netdev_.pause->receives && in_use()) judge_loss_elsewhere();
  }

  // Packets that this port's connections lost somewhere. In a lossy network that may be as it should: information.
  void judge_loss_elsewhere() {
    constexpr std::array<std::string_view, 3> lost = {"out_of_sequence", "packet_seq_err",
                                                      "roce_adp_retrans"};
    for (const RdmaPort* port : ports_) {
      const auto count = counted_of(*port, lost);
      if (count < lost_packets) continue;
      Finding& finding =
          tell(RoceRule::lossy,
               fmt::format("connections lost at least {} packets{}, with neither PFC nor pause",
                           count, within()),
               {});
      finding.severity = Severity::info;
      finding.cause =
          "Neither PFC nor global pause is on: packets are lost where the network is congested, "
          "which is how a lossy network works, and a fault in one that should be lossless";
      return;
    }
  }

  // It has an address of RoCE v2 and its RDMA port's counters move.
  [[nodiscard]] bool in_use() const {
    return std::ranges::any_of(ports_, [&](const RdmaPort* port) {
      const RdmaPort* before = same_port(looks_.ports_before, *port);
      if (before == nullptr || !has_routable_gid(*port)) return false;
      return std::ranges::any_of(
          std::array{"port_rcv_data", "port_xmit_data"}, [&](const char* name) {
            const auto now = port->counters.find(name);
            const auto then = before->counters.find(name);
            return now != port->counters.end() && then != before->counters.end() &&
                   now->second != then->second;
          });
    });
  }

  void judge_shares() {
    if (time_ < shortest_for_shares) return;
    judge_share(RoceTells::paused, RoceRule::paused, "the network forbade it to send");
    judge_share(RoceTells::pauses, RoceRule::pauses, "it forbade the network to send");
  }

  void judge_share(RoceTells tells, RoceRule rule, std::string_view words) {
    using Microseconds = std::chrono::duration<double, std::micro>;
    for (const RoceCount* count : enough(tells)) {
      const double share = static_cast<double>(count->counted.least) / Microseconds(time_).count();
      if (share < most_of_the_time || share > all_of_the_time) continue;
      const auto priority = priority_in(count->name);
      tell(rule,
           fmt::format("{} {} for {:.0f} % of {}", words,
                       priority ? fmt::format("with priority {}", *priority) : "anything",
                       100 * std::min(share, 1.0), format_duration(time_)),
           {words_of(*count)});
    }
  }

  void judge_ecn() {
    const auto ecn = ecn_priorities(ports_);
    if (!pfc_ || pfc_->none() || !ecn || (*pfc_ & *ecn).any()) return;
    Finding& finding = tell(RoceRule::pfc_alone,
                            fmt::format("PFC is on for priority {}, ECN for {}",
                                        priorities_text(*pfc_), priorities_text(*ecn)),
                            all_words(enough(RoceTells::pause_frames)));
    // Where pauses are at work, ECN is missed.
    if (!finding.evidence.empty()) finding.severity = Severity::warning;
  }

  // The DSCP that RoCE's packets have for sure, or by default.
  [[nodiscard]] std::optional<unsigned> dscp() const {
    constexpr unsigned ecn_bits = 2;
    if (netdev_.traffic_class) return *netdev_.traffic_class >> ecn_bits;
    return std::nullopt;
  }

  void judge_trust() {
    constexpr unsigned ecn_bits = 2;
    const auto tos = netdev_.traffic_class ? netdev_.traffic_class : netdev_.default_tos;
    if (!tos || *tos >> ecn_bits == 0 || trusts_dscp(netdev_) != false) return;
    // Without PFC there is no priority to miss, and with a VLAN packets may have a tag.
    if (!pfc_ || pfc_->none() || pfc_->test(0) || has_vlan()) return;
    Finding& finding = tell(
        RoceRule::trust,
        fmt::format("RoCE's packets have DSCP {}, and none is mapped to a priority; PFC is on "
                    "for {}",
                    *tos >> ecn_bits, priorities_text(*pfc_)),
        {fmt::format("{} {}", netdev_.traffic_class ? "traffic_class" : "default_roce_tos", *tos)});
    finding.state = FindingState::suspect;
  }

  [[nodiscard]] bool has_vlan() const {
    return std::ranges::any_of(ports_, [](const RdmaPort* port) {
      return std::ranges::any_of(port->gids, [&](const RdmaGid& gid) {
        return !gid.netdev.empty() && gid.netdev != port->netdev;
      });
    });
  }

  void judge_map() {
    const auto code = dscp();
    if (!code || !pfc_ || pfc_->none() || trusts_dscp(netdev_) != true) return;
    const auto mapped = netdev_.dcb->priority_of_dscp.find(*code);
    if (mapped == netdev_.dcb->priority_of_dscp.end() || in(pfc_, mapped->second)) return;
    tell(RoceRule::wrong_priority,
         fmt::format("RoCE's packets have DSCP {}, which is priority {}; PFC is on for {}", *code,
                     mapped->second, priorities_text(*pfc_)),
         {fmt::format("traffic_class {}", *netdev_.traffic_class)});
  }

  // IPv4 and IPv6 have filters of their own: only what this port's addresses use counts.
  [[nodiscard]] bool speaks(const std::string& family) const {
    if (family != "ip" && family != "ip6") return true;
    constexpr std::string_view mapped = "0000:0000:0000:0000:0000:ffff:";
    return std::ranges::any_of(ports_, [&](const RdmaPort* port) {
      return std::ranges::any_of(port->gids, [&](const RdmaGid& gid) {
        const bool four = gid.gid.starts_with(mapped);
        return gid.type == "RoCE v2" && !gid.gid.starts_with("fe80") && four == (family == "ip");
      });
    });
  }

  void judge_filter() {
    if (!netdev_.software || looks_.filter == nullptr) return;
    for (const FilterDrop& drop : looks_.filter->drops) {
      if (!speaks(drop.family)) continue;
      const char* way = drop.way == FilterWay::in ? "arrive" : "leave";
      if (!drop.rule.empty()) {
        tell(RoceRule::filtered, fmt::format("packets that {} are dropped by a rule", way),
             {drop.rule, "reached from " + drop.chain});
        continue;
      }
      Finding& finding = tell(RoceRule::maybe_filtered,
                              fmt::format("{} seems to drop packets that {}", drop.chain, way),
                              {"its policy is drop"});
      finding.state = FindingState::suspect;
    }
  }

  const RoceLooks& looks_;
  const RoceNetdev& netdev_;
  const std::vector<const RdmaPort*> ports_;
  std::vector<Finding>& out_;
  std::optional<PriorityMask> pfc_;
  std::vector<RoceCount> counts_;
  Nanoseconds time_{0};
};

}  // namespace

std::vector<Finding> judge_roce(const RoceLooks& looks) {
  std::vector<Finding> out;
  for (const RoceNetdev& netdev : looks.roce.netdevs) RoceJudge(looks, netdev, out).run();
  judge_roce_peers(looks, out);
  judge_bypassed_filter(looks, out);
  std::sort(out.begin(), out.end(), [](const Finding& a, const Finding& b) {
    return std::tie(b.severity, a.entity, a.rule) < std::tie(a.severity, b.entity, b.rule);
  });
  return out;
}

}  // namespace stoker::fabric
