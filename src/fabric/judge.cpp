#include "fabric/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fabric/fold.h"
#include "fabric/signs.h"

namespace stoker::fabric {
namespace {

bool graver(const Sign& a, const Sign& b) { return a.verdict < b.verdict; }

// One verdict: the gravest sign; the others stand beside it.
Told told_of(const Look& look, const Cable& cable, const std::vector<Sign>& signs) {
  const Sign& first = *std::ranges::min_element(signs, graver);
  Told told{.verdict = first.verdict, .cables = {cable}, .node = {}, .finding = {}};
  Finding& finding = told.finding;
  finding = finding_of(first.verdict, {EntityKind::port, look.cable_text(cable)});
  finding.severity = first.severity;
  finding.message = fmt::format("{}: {}.", look.cable_text(cable), first.message);
  if (!first.cause.empty()) finding.cause = first.cause;
  if (first.action) finding.action = first.action;
  if (first.action == Action::fix_config && first.verdict != Verdict::uninitialized) {
    finding.fix =
        "Enable them at both ends (ibportstate, or the switch's own configuration), if nobody "
        "meant it so.";
  }
  for (const Sign& sign : signs) {
    if (&sign != &first) {
      finding.evidence.push_back(
          fmt::format("also {}: {}", row_of(sign.verdict).word, sign.message));
      finding.severity = std::max(finding.severity, sign.severity);
    }
    finding.evidence.insert(finding.evidence.end(), sign.evidence.begin(), sign.evidence.end());
  }
  finding.evidence.push_back(fmt::format("GUIDs {}", look.guids_text(cable)));
  return told;
}

// A port that is up and whose peer nobody has seen, where the reference does not know it either.
void add_peerless(const Look& look, Signs& signs) {
  std::set<PortName> known;
  for (const auto& [cable, its] : signs) known.insert({cable.one, cable.other});
  for (const auto& [guid, node] : look.now.nodes) {
    for (const auto& [number, port] : node.ports) {
      const PortName end{guid, number};
      if (port.linked() || port.physical != PhysicalState::link_up || known.contains(end)) continue;
      signs[{end, {}}].push_back(
          {.verdict = Verdict::unread, .message = "is up and its other end does not answer"});
    }
  }
}

// Every cable unconfigured is one fault, and not of the cables.
std::optional<Told> without_manager(const Look& look, Signs& signs) {
  const auto cables = cables_of(look.now);
  const auto waits = [&](const Cable& cable) {
    const auto found = signs.find(cable);
    return found != signs.end() && std::ranges::any_of(found->second, [](const Sign& sign) {
             return sign.verdict == Verdict::uninitialized;
           });
  };
  if (cables.empty() || !std::ranges::all_of(cables, waits)) return std::nullopt;
  Told told{.verdict = Verdict::no_subnet_manager, .cables = cables, .node = {}, .finding = {}};
  told.finding = finding_of(told.verdict, {EntityKind::node, look.now.source});
  told.finding.severity = Severity::critical;
  told.finding.message = fmt::format("All {} links are up and none is configured.", cables.size());
  for (const Cable& cable : cables) {
    // Without a LID no counters can be asked for.
    std::erase_if(signs[cable], [](const Sign& sign) {
      return sign.verdict == Verdict::uninitialized || sign.verdict == Verdict::unread;
    });
    if (signs[cable].empty()) signs.erase(cable);
  }
  return told;
}

void tell_replaced(const Look& look, const Layout& layout, std::vector<Told>& told) {
  for (const auto& [was, is] : layout.replaced) {
    Told one{.verdict = Verdict::node_replaced, .cables = {}, .node = is, .finding = {}};
    one.finding = finding_of(one.verdict, {EntityKind::node, look.name_of(is)});
    one.finding.severity = Severity::info;
    one.finding.message = fmt::format("{} has GUID {}, and {} in {}.", look.name_of(is),
                                      guid_text(is), guid_text(was), look.reference_text());
    told.push_back(std::move(one));
  }
}

void count_ports(const Sweep& now, Judged& judged) {
  for (const auto& [guid, node] : now.nodes) {
    for (const auto& [number, port] : node.ports) {
      ++judged.ports;
      if (!port.unread.empty() || !port.counters_unread.empty()) ++judged.unread;
      if (port.unread.empty() && !port.linked()) ++judged.unlinked;
    }
  }
}

void name_nodes(const Look& look, Judged& judged) {
  for (const Told& told : judged.told) {
    for (const Cable& cable : told.cables) {
      for (const Guid node : {cable.one.node, cable.other.node}) {
        if (node != 0) judged.names.emplace(node, look.name_of(node));
      }
    }
  }
}

}  // namespace

Judged judge(const Sweep& now, const Sweep* previous, const Sweep* expected) {
  const Look look{.now = now, .previous = previous, .expected = expected};
  Judged judged;
  count_ports(now, judged);
  Layout layout = compare_layout(look);
  for (const Cable& cable : cables_of(now)) {
    ++judged.cables;
    std::vector<Sign> signs;
    add_state_signs(look, cable, signs);
    add_counter_signs(look, cable, signs);
    add_rate_signs(look, cable, signs);
    if (signs.empty()) continue;
    auto& all = layout.signs[cable];
    all.insert(all.end(), std::make_move_iterator(signs.begin()),
               std::make_move_iterator(signs.end()));
  }
  add_peerless(look, layout.signs);
  if (auto told = without_manager(look, layout.signs)) judged.told.push_back(std::move(*told));
  for (Told& told : fold_nodes(look, layout, layout.signs)) judged.told.push_back(std::move(told));
  for (const auto& [cable, signs] : layout.signs)
    judged.told.push_back(told_of(look, cable, signs));
  tell_replaced(look, layout, judged.told);
  name_nodes(look, judged);
  std::ranges::sort(judged.told, [](const Told& a, const Told& b) {
    return std::tuple(-static_cast<int>(a.finding.severity), a.verdict, a.finding.entity.id) <
           std::tuple(-static_cast<int>(b.finding.severity), b.verdict, b.finding.entity.id);
  });
  return judged;
}

}  // namespace stoker::fabric
