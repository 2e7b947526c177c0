// What NVIDIA's services say in the journal or in their own log, and what systemd says about them.
#include <array>

#include "base/text.h"
#include "event/cursor.h"
#include "event/lines.h"

namespace stoker::event {
namespace {

// Fabric manager's own stamp: "[May 16 2025 15:10:21] [INFO] [tid 30042] text".
std::string_view level_of(std::string_view& text) {
  Cursor cursor(text);
  if (!cursor.take("[") || !cursor.take_until("] [")) return {};
  const auto level = cursor.take_until("]");
  if (!level) return {};
  cursor.skip_blanks();
  if (cursor.take("[tid ")) cursor.take_until("]");
  text = trimmed(cursor.rest());
  return *level;
}

std::optional<Event> read_fabric_manager(std::string_view text) {
  std::string_view said = text;
  const auto level = level_of(said);
  Event event{.kind = EventKind::service, .text = std::string(text)};
  add_detail(event, "service", "nvidia-fabricmanager");
  if (said.find("match with driver version") != std::string_view::npos) {
    event.sign = "fabric_manager_version";
  } else if (level == "ERROR" || level == "CRITICAL" || level == "FATAL" ||
             said.find(" failed with error:") != std::string_view::npos) {
    event.sign = "fabric_manager_error";
  } else {
    return std::nullopt;
  }
  return event;
}

// "nvidia-fabricmanager.service: Failed with result 'exit-code'."; systemd before 236 says "Unit x entered
// failed state."
std::optional<Event> read_unit(std::string_view text) {
  Cursor cursor(text);
  const bool old = cursor.take("Unit ");
  const auto unit = cursor.take_until(old ? " entered failed state" : ": Failed with result '");
  if (!unit || !unit->starts_with("nvidia-") || !unit->ends_with(".service")) return std::nullopt;
  Event event{.kind = EventKind::service, .sign = "unit_failed", .text = std::string(text)};
  add_detail(event, "service", unit->substr(0, unit->size() - std::string_view(".service").size()));
  if (!old) {
    if (const auto result = cursor.take_until("'")) add_detail(event, "result", *result);
  }
  return event;
}

}  // namespace

std::optional<Event> read_service(std::string_view text, std::string_view program) {
  if (program == "systemd") return read_unit(text);
  if (program == "nv-fabricmanager" || program.starts_with("nvidia-fabricmanager")) {
    return read_fabric_manager(text);
  }
  return std::nullopt;
}

}  // namespace stoker::event
