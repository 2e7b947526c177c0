#include "model/event.h"

namespace stoker {

const char* to_string(EventKind kind) {
  switch (kind) {
    case EventKind::xid: return "xid";
    case EventKind::sxid: return "sxid";
    case EventKind::ecc: return "ecc";
    case EventKind::aer: return "aer";
    case EventKind::nvrm: return "nvrm";
    case EventKind::oom: return "oom";
    case EventKind::link: return "link";
    case EventKind::service: return "service";
  }
  return "nvrm";
}

std::string_view detail(const Event& event, std::string_view name) {
  for (const auto& each : event.details) {
    if (each.name == name) return each.value;
  }
  return {};
}

}  // namespace stoker
