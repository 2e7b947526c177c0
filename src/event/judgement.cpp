#include "event/judgement.h"

#include <fmt/format.h>

#include <vector>

#include "catalog/kernel_sign.h"
#include "catalog/sxid.h"
#include "catalog/xid.h"
#include "catalog/xid74.h"
#include "event/cursor.h"

namespace stoker::event {
namespace {

using Known = XidReading::Known;

std::optional<std::uint32_t> hex_number(std::string_view text) {
  constexpr int hex = 16;
  Cursor cursor(text);
  if (!cursor.take("0x")) return std::nullopt;
  const auto value = cursor.take_number<std::uint32_t>(hex);
  return cursor.at_end() ? value : std::nullopt;
}

// Of several things to do the one that asks for most.
int weight(Action action) {
  switch (action) {
    case Action::observe: return 0;
    case Action::inspect_cable: return 1;
    case Action::reset_domain: return 2;
    default: return 3;
  }
}

// "0x0 0x0 0x10000 ..." of an Xid 74.
void judge_registers(std::string_view words, Judgement& judged) {
  std::vector<std::uint32_t> registers;
  for (Cursor cursor(words); !cursor.at_end(); cursor.skip_blanks()) {
    const auto word = cursor.take_of("0123456789abcdefABCDEFx");
    const auto value = hex_number(word);
    if (!value) return;
    registers.push_back(*value);
  }
  const auto readings = read_xid74(registers);
  if (readings.empty()) return;
  judged.action = Action::observe;
  for (const auto& reading : readings) {
    if (weight(reading.action) > weight(judged.action)) judged.action = reading.action;
    judged.meaning +=
        fmt::format("; register {}, 0x{:x}: {}", reading.number, reading.bits, reading.text);
  }
}

// What the line itself says beyond its number.
void judge_words(const Event& event, const std::optional<DriverVersion>& driver,
                 Judgement& judged) {
  constexpr std::uint32_t recovery_changed = 154;
  if (event.code == recovery_changed) {
    const auto to = detail(event, "recovery_to");
    judged.action = recovery_action(to);
    judged.meaning = to.empty()
                         ? "The driver's recovery action changed, in words that are not known"
                         : fmt::format("The driver's recovery action is now: {}", to);
    return;
  }
  constexpr std::uint32_t nvlink = 74;
  if (event.code == nvlink) return judge_registers(detail(event, "registers"), judged);
  const auto info = hex_number(detail(event, "intr_info"));
  const auto status = hex_number(detail(event, "error_status"));
  if (!info || !status) return;
  const auto* row = read_nvlink5(*event.code, *info, *status, driver);
  if (row == nullptr) return;
  judged.action = row->action;
  judged.meaning += fmt::format(" ({}, {})", row->unit, row->severity);
}

Judgement judge_xid(const Event& event, const std::optional<DriverVersion>& driver) {
  if (!event.code) return {.level_reason = "cut", .meaning = "An Xid whose number was cut off"};
  const auto read = read_xid_number(*event.code, driver);
  Judgement judged{.level_reason = "not_documented", .source = xid_source(*event.code)};
  if (read.known == Known::no || read.known == Known::not_defined) {
    judged.level_reason = "unknown_code";
    judged.meaning = read.known == Known::no ? "An Xid that is not known"
                                             : "An Xid that this driver does not define";
    judged.source = {};
    return judged;
  }
  if (read.facts == nullptr) {
    judged.meaning = fmt::format("{}: not documented", read.mnemonic);
    return judged;
  }
  judged.level = read.facts->level;
  judged.action = read.facts->action;
  judged.meaning = read.facts->text;
  judged.source = xid_source(read.facts->number);
  if (read.known == Known::yes) judge_words(event, driver, judged);
  return judged;
}

Judgement judge_sxid(const Event& event) {
  if (!event.code) return {.level_reason = "cut", .meaning = "An SXid whose number was cut off"};
  const auto sxid = find_sxid(*event.code);
  if (sxid.number == 0)
    return {.level_reason = "unknown_code", .meaning = "An SXid that is not known"};
  Judgement judged{.level = FaultLevel::link,
                   .action = sxid.action,
                   .meaning = std::string(sxid.text.empty() ? sxid.name : sxid.text),
                   .source = sxid.source};
  // Without a class of NVIDIA's the driver's own word in the line is all that there is.
  const auto severity = detail(event, "severity");
  if (sxid.kind == SxidClass::not_documented &&
      (severity == "nonfatal" || severity == "correctable")) {
    judged.action = Action::observe;
  }
  return judged;
}

}  // namespace

Judgement judge(const Event& event, const std::optional<DriverVersion>& driver) {
  if (event.kind == EventKind::xid) return judge_xid(event, driver);
  if (event.kind == EventKind::sxid) return judge_sxid(event);
  const auto* sign = find_kernel_sign(event.sign);
  if (sign == nullptr) return {.level_reason = "not_documented", .meaning = event.sign};
  return {.level = sign->level,
          .action = sign->action,
          .meaning = std::string(sign->meaning),
          .source = sign->source};
}

}  // namespace stoker::event
