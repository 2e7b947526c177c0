#include "api/events_view.h"

#include <fmt/format.h>

#include "api/document_reader.h"
#include "api/previous_boot_view.h"
#include "model/wrap.h"

namespace stoker::api {
namespace {

std::string or_unknown(const Json& event, std::string_view key, std::string_view otherwise) {
  auto text = text_of(event, key);
  return text.empty() ? std::string(otherwise) : text;
}

std::string where(const Json& event) {
  if (event.contains("gpu") && event.at("gpu").is_number()) {
    return fmt::format("GPU {:.0f} ({})", number_of(event, "gpu"), text_of(event, "pci"));
  }
  return or_unknown(event, "pci", "no address");
}

std::string what(const Json& event) {
  const auto kind = text_of(event, "kind");
  if (event.contains("code") && event.at("code").is_number()) {
    return fmt::format("{} {:.0f}", kind, number_of(event, "code"));
  }
  const auto sign = text_of(event, "sign");
  return sign.empty() ? kind : fmt::format("{} {}", kind, sign);
}

// What was said in the boot before this one is to be taken for nothing that happens now.
std::string of_which_boot(const Json& event) {
  const auto end = text_of(list_of(event, "details"), "previous_boot");
  if (end.empty()) return {};
  return fmt::format("  of the boot before this one{}",
                     end == "unclean" ? ", which ended uncleanly" : "");
}

std::string block(const Json& event, std::size_t width) {
  constexpr std::string_view indent = "    ";
  std::string out =
      fmt::format("{}  {}  {}  {}  {}{}\n", or_unknown(event, "time", "at no known time"),
                  what(event), where(event), or_unknown(event, "level", "level unknown"),
                  text_of(event, "action"), of_which_boot(event));
  for (const auto* key : {"meaning", "text"}) {
    for (const auto& line : wrap(printable(text_of(event, key), true), width - indent.size())) {
      out += fmt::format("{}{}\n", indent, line);
    }
  }
  return out;
}

}  // namespace

std::string previous_boot_words(const Json& object) {
  if (object.empty()) return {};
  if (!flag_of(object, "known")) {
    std::string notes;
    for (const Json& note : list_of(object, "notes")) {
      if (note.is_string()) notes += (notes.empty() ? "" : "; ") + note.get<std::string>();
    }
    return fmt::format("has left nothing to read ({})", notes);
  }
  const auto end = text_of(object, "end");
  const auto ended_at = text_of(object, "ended_at");
  return fmt::format("ended {}{}: {}",
                     end == "unknown" ? "in a way that can't be told" : end + "ly",
                     ended_at.empty() ? "" : " at " + ended_at, text_of(object, "why"));
}

Result<EventsView> view_events(const std::string& document, const TableStyle& style) {
  const auto read = read_document(document);
  if (!read) return fail(read.error());
  EventsView view{.read = !list_of(*read, "sources").empty()};
  for (const Json& event : list_of(*read, "events")) {
    view.any = true;
    view.text += block(event, style.width);
  }
  for (const Json& source : list_of(*read, "sources")) {
    if (flag_of(source, "followed")) continue;
    view.read = false;
    view.text += fmt::format("{} is not read: {}\n", text_of(source, "name"),
                             or_unknown(source, "problem", "it has not been opened yet"));
  }
  if (const auto words = previous_boot_words(list_of(*read, "previous_boot")); !words.empty()) {
    view.text += fmt::format("The boot before this one {}.\n", words);
  }
  if (!view.any && view.read) view.text += "The kernel's log says nothing about the GPUs.\n";
  if (list_of(*read, "sources").empty())
    view.text += "No source of events is followed (option events.kernel_log, or a replay).\n";
  return view;
}

}  // namespace stoker::api
