// What the text of an Xid says beyond its number. Texts differ between branches, so nothing here decides
// what the event is: a text that is not known adds no detail.
#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "event/cursor.h"
#include "event/lines.h"

namespace stoker::event {
namespace {

constexpr std::string_view decimals = "0123456789";

void add_number(Event& event, std::string_view name, std::string_view text, std::string_view mark) {
  if (const auto number = number_behind<std::int64_t>(text, mark)) {
    add_detail(event, name, std::to_string(*number));
  }
}

// "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"
// (open-gpu-kernel-modules 565.57.01 and later, gpu.c).
void read_recovery(std::string_view text, Event& event) {
  struct Side {
    std::string_view mark;
    std::string_view name;
  };
  static constexpr std::array<Side, 2> sides = {
      {{"from 0x", "recovery_from"}, {" to 0x", "recovery_to"}}};
  for (const auto& side : sides) {
    auto cursor = behind(text, side.mark);
    if (!cursor) continue;
    const auto value = cursor->take_number<std::uint32_t>(16);
    if (!value) continue;
    add_detail(event, fmt::format("{}_value", side.name), std::to_string(*value));
    cursor->skip_blanks();
    if (!cursor->take("(")) continue;
    if (const auto word = cursor->take_until(")")) add_detail(event, side.name, *word);
  }
}

// Words in parentheses from "(" on, "0x0, 0x10000" or "0x0 0x8 [0x0]", with one blank between them.
std::string words_of(Cursor& cursor) {
  std::string words;
  const auto inner = cursor.take_until(")");
  if (!inner) return words;
  Cursor list(*inner);
  while (!list.at_end()) {
    list.take_of(" ,[]");
    const auto word = list.take_of("0123456789abcdefABCDEFx");
    if (word.empty()) break;
    if (!words.empty()) words += ' ';
    words += word;
  }
  return words;
}

// "NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)": seven registers.
void read_link_registers(std::string_view text, Event& event) {
  auto cursor = behind(text, " link ");
  if (!cursor) return;
  const auto link = cursor->take_number<std::int64_t>();
  if (!link) return;
  add_detail(event, "link", std::to_string(*link));
  if (cursor->take("(")) add_detail(event, "registers", words_of(*cursor));
}

// "RLW_SRC_TRACK Nonfatal XC1 i0 Link 10 (0x04082907 0x00000008 0x0 ...)": unit, severity, whether it is
// contained across GPUs, whether it was injected, link (-1: none), intrInfo, errorStatus, more words.
void read_nvlink5(std::string_view text, Event& event) {
  const auto severity = [&]() -> std::string_view {
    for (const std::string_view word : {" Nonfatal ", " Non-fatal ", " Fatal "}) {
      if (text.find(word) != std::string_view::npos) return word;
    }
    return {};
  }();
  if (severity.empty()) return;
  const auto unit = trimmed(text.substr(0, text.find(severity)));
  add_detail(event, "unit", unit.substr(unit.rfind(' ') + 1));
  add_detail(event, "severity", severity == " Fatal " ? "fatal" : "nonfatal");
  const auto after = text.substr(text.find(severity) + severity.size() - 1);
  add_number(event, "cross_contain", after, " XC");
  add_number(event, "injected", after, " i");
  add_number(event, "link", after, " Link ");
  auto cursor = behind(after, "(");
  if (!cursor) return;
  const std::string words = words_of(*cursor);
  Cursor each(words);
  const auto intr_info = each.take_until(" ");
  if (!intr_info) return;
  add_detail(event, "intr_info", *intr_info);
  const auto status = each.rest().substr(0, each.rest().find(' '));
  add_detail(event, "error_status", status);
  if (const auto more = each.rest().substr(status.size()); !more.empty()) {
    add_detail(event, "debug", trimmed(more));
  }
}

// "Contained: CE User Channel (0x9). RST: No, D-RST: No"
void read_containment(std::string_view text, Event& event) {
  Cursor cursor(text);
  if (cursor.take("Contained: ") || cursor.take("Uncontained: ")) {
    add_detail(event, "unit", trimmed(cursor.rest().substr(0, cursor.rest().find_first_of("(."))));
  }
  struct Flag {
    std::string_view mark;
    std::string_view name;
  };
  static constexpr std::array<Flag, 2> flags = {
      {{" RST: ", "reset_required"}, {"D-RST: ", "drain_and_reset"}}};
  for (const auto& flag : flags) {
    auto behind_mark = behind(text, flag.mark);
    if (!behind_mark) continue;
    if (behind_mark->take("Yes")) add_detail(event, flag.name, "yes");
    if (behind_mark->take("No")) add_detail(event, flag.name, "no");
  }
}

// "Row Remapper: New row marked ..." of Ampere and later, "Dynamic Page Retirement: ..." before it.
void read_repair(std::string_view text, Event& event) {
  if (text.find("Row Remapper") != std::string_view::npos) {
    add_detail(event, "mechanism", "row_remap");
  } else if (text.find("Page Retirement") != std::string_view::npos) {
    add_detail(event, "mechanism", "page_retirement");
  }
}

// "(GPC 1, TPC 3, SM 0)": where on the chip; the key by which a repeat is told.
void read_place(std::string_view text, Event& event) {
  add_number(event, "gpc", text, "(GPC ");
  add_number(event, "tpc", text, ", TPC ");
  add_number(event, "sm", text, ", SM ");
}

// "MMU Fault: ENGINE GRAPHICS ... faulted @ 0x... Fault is of type FAULT_PDE ACCESS_TYPE_READ"
void read_fault(std::string_view text, Event& event) {
  constexpr std::string_view word_set = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  if (auto cursor = behind(text, "MMU Fault: ENGINE ")) {
    add_detail(event, "engine", cursor->take_of(word_set));
  }
  if (auto cursor = behind(text, "faulted @ ")) {
    add_detail(event, "address", cursor->take_of("0123456789abcdefABCDEFx_"));
  }
  if (auto cursor = behind(text, "of type ")) {
    add_detail(event, "fault", cursor->take_of(word_set));
    if (cursor->take(" ")) add_detail(event, "access", cursor->take_of(word_set));
  }
}

// "Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 103 (GSP_RM_ALLOC) ..."
void read_rpc(std::string_view text, Event& event) {
  add_number(event, "waited_seconds", text, "Timeout after ");
  auto cursor = behind(text, "Expected function ");
  if (!cursor) return;
  add_detail(event, "rpc", cursor->take_of(decimals));
  if (cursor->take(" (")) {
    if (const auto name = cursor->take_until(")")) add_detail(event, "rpc_name", *name);
  }
}

}  // namespace

void read_xid_details(std::string_view text, Event& event) {
  switch (event.code.value_or(0)) {
    case 13: read_place(text, event); break;
    case 31: read_fault(text, event); break;
    case 45: add_number(event, "root_xid", text, "caused by previous Xid "); break;
    case 63:
    case 64: read_repair(text, event); break;
    case 74:
    case 136: read_link_registers(text, event); break;
    case 94:
    case 95: read_containment(text, event); break;
    case 119: read_rpc(text, event); break;
    case 144:
    case 145:
    case 146:
    case 147:
    case 148:
    case 149:
    case 150: read_nvlink5(text, event); break;
    case 154: read_recovery(text, event); break;
    default: break;
  }
}

}  // namespace stoker::event
