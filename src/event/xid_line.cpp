// NVIDIA's Xid line, as nv_report_error() of the driver prints it and older branches did
// (open-gpu-kernel-modules, src/nvidia/src/kernel/gpu/rc/kernel_rc.c and arch/nvalloc/unix/src/osapi.c).
#include <array>

#include "base/text.h"
#include "event/cursor.h"
#include "event/lines.h"

namespace stoker::event {
namespace {

constexpr std::size_t max_address = 64;  // "PCI:0000:3b:00 GPU-I:05 GPU-CI:01" with room
constexpr std::uint32_t max_xid = 9999;  // three digits today
constexpr std::string_view start = "NVRM: Xid (";

// Behind "NVRM: Xid (", of which a cut line may have lost up to "NVRM:".
std::optional<Cursor> behind_start(std::string_view text) {
  constexpr std::size_t can_lose = std::string_view("NVRM: ").size();
  for (std::size_t lost = 0; lost <= can_lose; ++lost) {
    if (text.starts_with(start.substr(lost))) return Cursor(text.substr(start.size() - lost));
  }
  return std::nullopt;
}

// "PCI:0000:3b:00", "PCI:0000:3b:00 GPU-I:05 GPU-CI:01", "0000:03:00".
bool read_address(std::string_view inner, Event& event) {
  const auto blank = inner.find(' ');
  const auto pci = PciAddress::parse(inner.substr(0, blank));
  if (!pci) return false;
  event.pci = *pci;
  event.gi = number_behind<std::uint32_t>(inner, " GPU-I:");
  event.ci = number_behind<std::uint32_t>(inner, " GPU-CI:");
  return blank == std::string_view::npos || event.gi.has_value();
}

// "pid=123, name=python3, ": each may be missing, or be '<unknown>' (drivers up to 565).
void read_process(Cursor& cursor, Event& event) {
  cursor.skip_blanks();
  if (cursor.take("pid=")) {
    event.pid = cursor.take_number<std::uint32_t>();
    if (!event.pid) cursor.take("'<unknown>'") || cursor.take("<unknown>");
    cursor.take(",");
    cursor.skip_blanks();
  }
  if (!cursor.take("name=")) return;
  const auto name = cursor.rest().substr(0, cursor.rest().find(','));
  if (name != "<unknown>") event.process = trimmed(name);
  cursor.take(name);
  cursor.take(",");
}

// "XID 63 Dynamic Page Retirement: ..." as NVIDIA's guide for cards before Ampere writes it
// (https://docs.nvidia.com/deploy/dynamic-page-retirement/).
std::optional<Event> read_retirement(std::string_view text) {
  struct Form {
    std::string_view start;
    std::uint32_t code;
  };
  static constexpr std::array<Form, 3> forms = {{
      {"XID 48 An uncorrectable double bit error", 48},
      {"XID 63 Dynamic Page Retirement:", 63},
      {"XID 64 Dynamic Page Retirement:", 64},
  }};
  Cursor cursor(text);
  cursor.take("NVRM: ");
  for (const auto& form : forms) {
    if (!cursor.rest().starts_with(form.start)) continue;
    Event event{.kind = EventKind::xid, .code = form.code, .text = std::string(text)};
    read_xid_details(cursor.rest(), event);
    return event;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Event> read_xid(std::string_view text) {
  auto cursor = behind_start(text);
  if (!cursor) return read_retirement(text);
  Event event{.kind = EventKind::xid, .text = std::string(text)};
  const auto inner = cursor->take_until(")");
  if (!inner || inner->size() > max_address || !read_address(*inner, event)) return std::nullopt;
  if (!cursor->take(":")) return cursor->at_end() ? std::optional(event) : std::nullopt;
  cursor->skip_blanks();
  if (cursor->at_end()) return event;
  const auto code = cursor->take_number<std::uint32_t>();
  if (!code || *code == 0 || *code > max_xid) return std::nullopt;
  // A number that ends the line may have lost digits: every driver writes a comma behind it.
  if (cursor->at_end()) return event;
  if (!cursor->take(",") && !cursor->take(" ")) return std::nullopt;
  event.code = code;
  read_process(*cursor, event);
  read_xid_details(trimmed(cursor->rest()), event);
  return event;
}

}  // namespace stoker::event
