// An NVSwitch's line (open-gpu-kernel-modules, common_nvswitch.h and intr_nvswitch.h):
//   nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)
// and, with the same number, lines that go on with the one before: "Severity 5 Engine instance ...", "Data {...}".
#include <array>

#include "event/cursor.h"
#include "event/lines.h"

namespace stoker::event {
namespace {

// Codes have five digits; the driver's header defines 10000 to 30006.
constexpr std::uint32_t max_sxid = 99'999;

void read_severity(Cursor& cursor, Event& event) {
  struct Word {
    std::string_view said;
    std::string_view value;
  };
  static constexpr std::array<Word, 3> words = {
      {{"Fatal,", "fatal"}, {"Non-fatal,", "nonfatal"}, {"Correctable,", "correctable"}}};
  for (const auto& word : words) {
    if (cursor.take(word.said)) {
      add_detail(event, "severity", word.value);
      cursor.skip_blanks();
      return;
    }
  }
}

void read_link(std::string_view text, Event& event) {
  struct Field {
    std::string_view mark;
    std::string_view name;
  };
  static constexpr std::array<Field, 3> fields = {
      {{"Link ", "link"}, {"instance=", "instance"}, {"chiplet=", "chiplet"}}};
  for (const auto& field : fields) {
    if (const auto number = number_behind<std::uint32_t>(text, field.mark)) {
      add_detail(event, field.name, std::to_string(*number));
    }
  }
  if (text.ends_with("(First)")) add_detail(event, "first", "yes");
}

}  // namespace

std::optional<Event> read_sxid(std::string_view text) {
  Cursor cursor(text);
  Event event{.kind = EventKind::sxid, .text = std::string(text)};
  if (cursor.take("nvidia-nvswitch")) {
    const auto number = cursor.take_number<std::uint32_t>();
    if (!number || !cursor.take(": ")) return std::nullopt;
    add_detail(event, "switch", std::to_string(*number));
  }
  if (!cursor.take("SXid (")) return std::nullopt;
  const auto inner = cursor.take_until(")");
  const auto pci = inner ? PciAddress::parse(*inner) : fail(ErrorCode::invalid_input, "");
  if (!pci || !cursor.take(":")) return std::nullopt;
  event.pci = *pci;
  cursor.skip_blanks();
  if (cursor.at_end()) return event;
  const auto code = cursor.take_number<std::uint32_t>();
  if (!code || *code == 0 || *code > max_sxid) return std::nullopt;
  if (cursor.at_end()) return event;  // the number may have lost digits
  if (!cursor.take(",")) return std::nullopt;
  event.code = code;
  cursor.skip_blanks();
  if (cursor.rest().starts_with("Severity ") || cursor.rest().starts_with("Data {")) {
    add_detail(event, "continuation", "yes");
    return event;
  }
  read_severity(cursor, event);
  read_link(cursor.rest(), event);
  return event;
}

}  // namespace stoker::event
