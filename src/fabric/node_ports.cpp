#include "fabric/node_ports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "base/duration.h"
#include "fabric/port_kinds.h"
#include "fabric/port_rules.h"

namespace stoker::fabric {
namespace {

struct HardwareCounter {
  std::string_view name;
  PortRule rule;
  std::uint64_t too_many;
  std::string_view words;
};

constexpr auto hardware_counters = std::to_array<HardwareCounter>({
#define STOKER_HARDWARE_COUNTER(name, rule, too_many, words) \
  {#name, PortRule::rule, too_many, words},
#include "fabric/hardware_counters.def"
#undef STOKER_HARDWARE_COUNTER
});
constexpr std::size_t most_ports = 16;  // ports that evidence lists
constexpr unsigned hardware_bits = 32;  // counters.c, mlx5_ib_query_q_counters: be32

const HardwareCounter* hardware_counter(std::string_view name) {
  const auto* const found = std::ranges::find(hardware_counters, name, &HardwareCounter::name);
  return found == hardware_counters.end() ? nullptr : found;
}

bool is_traffic(std::string_view name) {
  const auto id = counter_of(name);
  return (id && row_of(*id).group == CounterGroup::traffic) || name.starts_with("unicast_") ||
         name.starts_with("multicast_") || name.starts_with("rx_") || name.starts_with("tx_") ||
         name.starts_with("rdma_");
}

// sysfs does not tell how wide a counter is: the old ones stop at their width, those of newer kernels and cards go on.
CounterReading reading_of(std::string_view name, std::uint64_t value) {
  const auto id = counter_of(name);
  if (!id) return {.value = value, .bits = hardware_bits};
  const unsigned narrow = row_of(*id).width;
  const bool fits = narrow < wide_bits && value >> narrow == 0;
  return {.value = value, .bits = fits ? narrow : wide_bits};
}

Finding finding_of(PortRule id, Entity entity, std::string message,
                   std::vector<std::string> evidence) {
  const PortRuleRow& row = port_rule(id);
  return finding_by(row.rule, row, std::move(entity), std::move(message), std::move(evidence));
}

std::uint64_t times(CounterId id, const std::vector<PortCount>& counts) {
  const auto found = std::ranges::find(counts, row_of(id).name, &PortCount::name);
  return found == counts.end() ? 0 : found->counted.least;
}

// From how many of this counter on which rule speaks; nullopt: none ever.
std::optional<std::pair<PortRule, std::uint64_t>> limit_of(const CounterRow& row) {
  if (row.tells == CounterTells::other) return std::nullopt;
  if (row.tells == CounterTells::drop) return std::pair(PortRule::flapping, std::uint64_t{1});
  return std::pair(PortRule::errors, row.too_many);
}

std::optional<PortRule> rule_of(const PortCount& count) {
  const auto id = counter_of(count.name);
  const auto* hardware = hardware_counter(count.name);
  if (count.counted.blind) {
    const bool told = hardware != nullptr || (id && row_of(*id).tells != CounterTells::other);
    return told ? std::optional(PortRule::full) : std::nullopt;
  }
  if (hardware != nullptr)
    return count.counted.least >= hardware->too_many ? std::optional(hardware->rule) : std::nullopt;
  const auto limit = id ? limit_of(row_of(*id)) : std::nullopt;
  return limit && count.counted.least >= limit->second ? std::optional(limit->first) : std::nullopt;
}

// A link that recovers did not go down; and once, it may have been a restart at the other end.
Severity severity_of_losses(const std::vector<PortCount>& counts) {
  const auto down = times(CounterId::link_downed, counts);
  if (down >= row_of(CounterId::link_downed).too_many) return Severity::error;
  const bool is_one = std::max(down, times(CounterId::link_error_recovery, counts)) <= 1;
  return is_one ? Severity::info : Severity::warning;
}

std::string words_of(const PortCount& count) {
  if (count.counted.blind) return fmt::format("{} stands at its highest value", count.name);
  const auto* hardware = hardware_counter(count.name);
  const auto id = counter_of(count.name);
  return fmt::format("{} {} ({})", amount(count.counted),
                     hardware != nullptr ? hardware->words : row_of(*id).words, count.name);
}

class PortJudge {
 public:
  PortJudge(const RdmaPorts& now, const RdmaPorts* before)
      : now_(now), before_(before), kinds_(now.ports) {}

  std::vector<Finding> run() {
    for (const RdmaPort& port : now_.ports) {
      judge_state(port);
      judge_rate(port);
      judge_ethernet(port);
      judge_counts(port);
    }
    judge_gone();
    std::sort(out_.begin(), out_.end(), [](const Finding& a, const Finding& b) {
      return std::tie(b.severity, a.entity, a.rule) < std::tie(a.severity, b.entity, b.rule);
    });
    return std::move(out_);
  }

 private:
  Finding& tell(PortRule id, const RdmaPort& port, std::string message,
                std::vector<std::string> evidence) {
    return out_.emplace_back(
        finding_of(id, entity_of(port), std::move(message), std::move(evidence)));
  }

  void judge_state(const RdmaPort& port) {
    if (is_down(port)) {
      const auto up = kinds_.up(port);
      Finding& finding = tell(PortRule::down, port,
                              fmt::format("{} is down ({})", port_text(port),
                                          port.physical.empty() ? port.state : port.physical),
                              {fmt::format("of {} ports of its kind {} are up", up.ports, up.so)});
      // Where few are used, one more that is not is no news; a node without any link has none that works.
      const bool any_up = std::ranges::any_of(now_.ports, is_linked);
      if (any_up && up.so * 2 < up.ports) finding.severity = Severity::info;
      return;
    }
    const bool waits = port.state == "INIT" || port.state == "ARMED";
    if (port.link_layer == "InfiniBand" && waits) {
      tell(PortRule::no_subnet_manager, port,
           fmt::format("{} is up, and stands at {}", port_text(port), port.state), {});
    }
  }

  void judge_gone() {
    if (before_ == nullptr) return;
    for (const RdmaPort& then : before_->ports) {
      if (same_port(&now_, then) != nullptr) continue;
      tell(PortRule::gone, then, port_text(then) + " is not there any more", {});
    }
  }

  void judge_rate(const RdmaPort& port) {
    const auto usual = kinds_.usual_rate(port);
    if (!usual) return;
    tell(PortRule::slow, port, fmt::format("{} runs at {}", port_text(port), port.rate),
         {fmt::format("most of its kind run at {}", *usual)});
  }

  void judge_ethernet(const RdmaPort& port) {
    if (port.link_layer != "Ethernet" || port.physical != "LinkUp") return;
    if (!port.gids.empty() && !has_routable_gid(port)) {
      std::vector<std::string> evidence;
      evidence.reserve(port.gids.size());
      for (const RdmaGid& gid : port.gids)
        evidence.push_back(fmt::format("GID {}: {} {}", gid.index, gid.gid, gid.type));
      tell(PortRule::no_address, port,
           fmt::format("{} has no RoCE v2 GID of an IP address", port_text(port)),
           std::move(evidence));
    }
    if (const auto usual = kinds_.usual_mtu(port)) {
      tell(PortRule::mtu, port,
           fmt::format("{} ({}) has MTU {}", port_text(port), port.netdev, *port.mtu),
           {fmt::format("most of its kind have {}", *usual)});
    }
    if (kinds_.lacks_ecn(port)) {
      tell(PortRule::no_ecn, port,
           fmt::format("{} ({}) has ECN for no priority", port_text(port), port.netdev), {});
    }
  }

  void judge_counts(const RdmaPort& port) {
    const RdmaPort* before = same_port(before_, port);
    if (before == nullptr) return;
    auto found = judge_counted(port, counted_on(*before, port), now_.at - before_->at);
    std::ranges::move(found, std::back_inserter(out_));
  }

  const RdmaPorts& now_;
  const RdmaPorts* before_;
  const PortKinds kinds_;
  std::vector<Finding> out_;
};

}  // namespace

std::string port_text(const RdmaPort& port) {
  return fmt::format("{} port {}", port.device, port.port);
}

Entity entity_of(const RdmaPort& port) {
  return {EntityKind::port, fmt::format("{}/{}", port.device, port.port)};
}

const RdmaPort* same_port(const RdmaPorts* look, const RdmaPort& port) {
  if (look == nullptr) return nullptr;
  const auto found = std::ranges::find_if(look->ports, [&](const RdmaPort& other) {
    return other.device == port.device && other.port == port.port;
  });
  return found == look->ports.end() ? nullptr : &*found;
}

std::vector<PortCount> counted_on(const RdmaPort& before, const RdmaPort& now) {
  std::vector<PortCount> counts;
  for (const auto& [name, value] : now.counters) {
    const auto then = before.counters.find(name);
    if (then == before.counters.end() || is_traffic(name)) continue;
    const auto counted = counted_between(reading_of(name, then->second), reading_of(name, value));
    if (counted.least > 0 || counted.fell || counted.blind) counts.push_back({name, counted});
  }
  return counts;
}

std::vector<Finding> judge_counted(const RdmaPort& port, const std::vector<PortCount>& counts,
                                   Nanoseconds time) {
  std::map<PortRule, std::vector<std::string>> evidence;
  for (const PortCount& count : counts) {
    if (const auto rule = rule_of(count)) evidence[*rule].push_back(words_of(count));
  }
  std::vector<Finding> found;
  found.reserve(evidence.size());
  for (auto& [rule, lines] : evidence) {
    auto message = fmt::format("{}: {} within {}", port_text(port), fmt::join(lines, ", "),
                               format_duration(time));
    Finding& finding =
        found.emplace_back(finding_of(rule, entity_of(port), std::move(message), std::move(lines)));
    if (rule == PortRule::flapping) finding.severity = severity_of_losses(counts);
  }
  return found;
}

LostTogether lost_together(const std::vector<CountedPort>& ports) {
  LostTogether lost;
  for (const CountedPort& each : ports) {
    const auto down = times(CounterId::link_downed, each.counts);
    if (down > 0) lost[down].push_back(each.port);
  }
  std::erase_if(lost, [](const auto& of_number) { return of_number.second.size() < 2; });
  return lost;
}

Finding judge_together(const std::string& node, const LostTogether& lost, Nanoseconds time) {
  std::vector<std::string> evidence;
  evidence.reserve(lost.size());
  std::size_t all = 0;
  for (const auto& [number, ports] : lost) {
    std::vector<std::string> names;
    names.reserve(std::min(ports.size(), most_ports));
    for (const RdmaPort* port : ports) {
      if (names.size() < most_ports) names.push_back(entity_of(*port).id);
    }
    const std::string_view more = names.size() < ports.size() ? " and others" : "";
    evidence.push_back(fmt::format("{} times down: {}{}", number, fmt::join(names, ", "), more));
    all += ports.size();
  }
  auto message = fmt::format("{} ports lost their link, each as often as another, within {}", all,
                             format_duration(time));
  Finding finding = finding_of(PortRule::together, {EntityKind::node, node}, std::move(message),
                               std::move(evidence));
  if (!lost.empty() && lost.rbegin()->first >= row_of(CounterId::link_downed).too_many)
    finding.severity = Severity::error;
  return finding;
}

std::vector<std::pair<std::string, std::uint64_t>> limits_of(std::string_view rule) {
  std::vector<std::pair<std::string, std::uint64_t>> limits;
  if (rule == port_rule(PortRule::together).rule)
    limits.emplace_back(row_of(CounterId::link_downed).name, 1);
  for (const CounterRow& row : counter_rows()) {
    const auto limit = limit_of(row);
    if (limit && port_rule(limit->first).rule == rule)
      limits.emplace_back(std::string(row.name), limit->second);
  }
  for (const HardwareCounter& row : hardware_counters) {
    if (port_rule(row.rule).rule == rule) limits.emplace_back(std::string(row.name), row.too_many);
  }
  return limits;
}

std::vector<Finding> judge_ports(const RdmaPorts& now, const RdmaPorts* before) {
  return PortJudge(now, before).run();
}

}  // namespace stoker::fabric
