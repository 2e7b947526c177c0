// Fabric analyzer: is a link configured, and did both of its ends answer?
#include <fmt/format.h>

#include "fabric/signs.h"

namespace stoker::fabric {
namespace {

void add_unread(const Look& look, const PortName& end, const Port& port, std::vector<Sign>& signs) {
  if (port.counters_unread.empty()) return;
  signs.push_back({.verdict = Verdict::unread,
                   .message = fmt::format("the counters of {} were not read ({})",
                                          look.end_text(end), port.counters_unread),
                   .blamed = {end.node}});
}

void add_uninitialized(const Look& look, const PortName& end, const Port& port,
                       std::vector<Sign>& signs) {
  if (port.state != LinkState::initialize && port.state != LinkState::armed) return;
  for (const Sign& sign : signs) {
    if (sign.verdict == Verdict::uninitialized) return;
  }
  signs.push_back({.verdict = Verdict::uninitialized,
                   .message = fmt::format("{} is up and stands at \"{}\"", look.end_text(end),
                                          to_string(port.state))});
}

}  // namespace

void add_state_signs(const Look& look, const Cable& cable, std::vector<Sign>& signs) {
  for (const PortName& end : {cable.one, cable.other}) {
    const Port* port = look.now.port(end);
    if (port == nullptr) {
      signs.push_back({.verdict = Verdict::unread,
                       .message = fmt::format("{} was not read", look.end_text(end)),
                       .blamed = {end.node}});
      continue;
    }
    if (!port->unread.empty()) {
      signs.push_back(
          {.verdict = Verdict::unread,
           .message = fmt::format("{} was not read ({})", look.end_text(end), port->unread),
           .blamed = {end.node}});
    }
    add_unread(look, end, *port, signs);
    add_uninitialized(look, end, *port, signs);
  }
}

}  // namespace stoker::fabric
