#include "event/event_report.h"

#include <fmt/format.h>

#include "model/wrap.h"

namespace stoker::event {
namespace {

constexpr std::string_view not_said = "not_said";

template <typename T>
void member(JsonWriter& json, std::string_view name, const std::optional<T>& value,
            std::string_view reason) {
  if (value) {
    json.member(name, *value);
  } else {
    json.key(name).null().member(std::string(name) + "_reason", reason);
  }
}

std::optional<std::string> filled(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

std::string_view code_reason(const Event& event) {
  const bool numbered = event.kind == EventKind::xid || event.kind == EventKind::sxid;
  return numbered ? "cut" : "not_applicable";
}

// "xid 79", "link nic_health", "xid ?"
std::string what(const Event& event) {
  const std::string kind = to_string(event.kind);
  if (event.code) return fmt::format("{} {}", kind, *event.code);
  return kind + ' ' + (event.sign.empty() ? "?" : event.sign);
}

std::string when(const FoundEvent& found) {
  if (found.event.time) return format_utc(*found.event.time);
  if (found.time.text.empty()) return "at no known time";
  return found.time.text + (found.time.reason == "since_boot" ? " s after boot" : "");
}

// What was said may hold line breaks and control characters.
std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return out;
}

}  // namespace

void write_event(JsonWriter& json, const FoundEvent& found, const Judgement& judged) {
  const Event& event = found.event;
  json.begin_object().member("file", event.origin.source).member("line", found.line);
  member(json, "time", event.time ? std::optional(format_utc(*event.time)) : std::nullopt,
         found.time.reason);
  member(json, "time_text", filled(found.time.text), not_said);
  write_event_members(json, event, judged);
  json.end_object();
}

void write_event_members(JsonWriter& json, const Event& event, const Judgement& judged) {
  json.member("kind", to_string(event.kind));
  member(json, "code", event.code, code_reason(event));
  member(json, "sign", filled(event.sign), "not_applicable");
  member(json, "pci", event.pci ? std::optional(event.pci->sysfs()) : std::nullopt, not_said);
  member(json, "pid", event.pid, not_said);
  member(json, "process", filled(event.process), not_said);
  member(json, "gi", event.gi, not_said);
  member(json, "ci", event.ci, not_said);
  member(json, "level",
         judged.level ? std::optional<std::string>(to_string(*judged.level)) : std::nullopt,
         judged.level_reason);
  json.member("action", to_string(judged.action)).member("meaning", judged.meaning);
  member(json, "source", filled(judged.source), "not_documented");
  json.member("text", event.text).key("details").begin_object();
  for (const auto& each : event.details) json.member(each.name, each.value);
  json.end_object();
  member(json, "boot", filled(event.origin.boot), not_said);
  json.member("offset", event.origin.offset);
}

std::string event_block(const FoundEvent& found, const Judgement& judged, std::size_t width) {
  constexpr std::string_view indent = "    ";
  const Event& event = found.event;
  std::string out = fmt::format("{}  {}", when(found), what(event));
  if (event.pci) out += "  " + event.pci->sysfs();
  if (event.gi) out += fmt::format(" gi {}", *event.gi);
  if (event.ci) out += fmt::format(" ci {}", *event.ci);
  out += fmt::format("  {}  {}\n", judged.level ? to_string(*judged.level) : "level unknown",
                     to_string(judged.action));
  std::string meaning = judged.meaning;
  if (event.pid) meaning += fmt::format("; pid {}", *event.pid);
  if (!event.process.empty()) meaning += fmt::format(" ({})", one_line(event.process));
  const auto place = fmt::format("{}:{}", event.origin.source, found.line);
  for (const auto& text : {meaning, one_line(event.text), place}) {
    for (const auto& each : wrap(text, width - indent.size()))
      out += fmt::format("{}{}\n", indent, each);
  }
  return out;
}

}  // namespace stoker::event
