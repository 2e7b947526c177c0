// Analyzer stage: why is this card slower than it could be?
#include <fmt/format.h>

#include <cstdint>

#include "catalog/clock_holds.h"
#include "doctor/why_parts.h"

namespace stoker::doctor {
namespace {

// A reading beside what it could be, and whether it falls short.
bool falls_short(Answer& answer, const CardPicture& card, const char* what, const char* key,
                 const char* limit, const char* unit) {
  const auto now = reading(card, key);
  const auto most = card.limits.find(limit);
  std::string seen = reading_text(card, key, unit);
  if (now && most != card.limits.end()) seen += fmt::format(" of {:.4g}", most->second);
  answer.looks.push_back({what, seen});
  if (!now) answer.missing.push_back(std::string(what) + ": " + seen);
  return now && most != card.limits.end() && *now < most->second;
}

// What the bits of the clocks say; the first that is a fault becomes the conclusion.
void look_at_brakes(Answer& answer, const CardPicture& card) {
  const auto value = reading(card, "throttle_reasons");
  if (!value) {
    answer.missing.push_back("why the clocks are what they are: " +
                             reading_text(card, "throttle_reasons", ""));
    return;
  }
  const auto bits = static_cast<std::uint64_t>(*value);
  std::string names;
  for (const ClockHold& hold : clock_holds) {
    if ((bits & hold.bit) == 0) continue;
    names += (names.empty() ? "" : ", ") + std::string(hold.name);
    if (hold.is_fault && answer.conclusion.empty()) {
      answer.certainty = Certainty::certain;
      answer.wrong = true;
      answer.conclusion = fmt::format("Its clocks are held down: {}.", hold.name);
      answer.next = hold.bit == held_by_power_brake
                        ? "Look at the power supplies and the chassis' limit."
                        : "Look at the cooling: fans, airflow, neighbours, the room.";
    }
  }
  answer.looks.push_back({"why the clocks are held", names.empty() ? "they are not" : names});
}

void look_at_power(Answer& answer, const CardPicture& card) {
  const auto limit = reading(card, "power_limit_watts");
  const auto own = card.limits.find("power_limit_default_watts");
  look_at(answer, card, "power", "power_watts", "W");
  look_at(answer, card, "power limit", "power_limit_watts", "W");
  if (limit && own != card.limits.end() && *limit < own->second && answer.conclusion.empty()) {
    answer.certainty = Certainty::certain;
    answer.wrong = true;
    answer.conclusion = fmt::format("Its power limit was lowered to {:.0f} W; its own is {:.0f} W.",
                                    *limit, own->second);
    answer.next =
        fmt::format("If nobody wants that: nvidia-smi -i {} -pl {:.0f}", card.index, own->second);
  }
}

}  // namespace

Answer why_slow(const NodePicture& picture, const CardPicture& card) {
  Answer answer;
  answer.about = card_name(card);
  if (is_gone(answer, card)) return answer;
  const auto told = findings_about(
      picture, card,
      {"throttle-hw", "throttle-power-brake", "throttle-sw-thermal", "lost-to-", "clocks-stuck",
       "power-limit-lowered", "pcie-", "nvlink-", "straggler", "row-remap", "ecc-", "gpu-starved",
       "job-waits-on-host", "hot-card", "temperature-slowdown", "throttle-power-cap"});
  if (!told.empty()) conclude(answer, *told.front());
  look_at_brakes(answer, card);
  look_at_power(answer, card);
  falls_short(answer, card, "SM clock", "sm_clock_mhz", "max_sm_clock_mhz", "MHz");
  if (falls_short(answer, card, "PCIe width", "pcie_width", "max_pcie_width", "lanes") &&
      answer.conclusion.empty()) {
    answer.certainty = Certainty::certain;
    answer.wrong = true;
    answer.conclusion = "Its PCIe link has lost lanes: copies to and from the host are slower.";
    answer.next =
        "Reseat the card or riser; stoker doctor --only pci-link names it after a restart too.";
  }
  look_at(answer, card, "NVLinks up", "nvlink_links_up", "");
  look_at(answer, card, "utilisation", "utilization_percent", "%");
  if (card.works.size() > 1) {
    answer.looks.push_back({"processes on it", fmt::format("{}: {} and others", card.works.size(),
                                                           work_text(card.works.front()))});
    if (answer.conclusion.empty()) {
      answer.certainty = Certainty::likely;
      answer.wrong = true;
      answer.conclusion =
          fmt::format("{} processes share it, and each gets a part.", card.works.size());
      answer.next = "See `stoker top` for who takes what.";
    }
  }
  if (!answer.conclusion.empty()) return answer;
  answer.conclusion = "Nothing that was looked at slows the card down.";
  answer.missing.emplace_back(
      "whether its job waits for others: `stoker nccl` on the job's logs, the other nodes of the "
      "job");
  answer.missing.emplace_back("whether the card computes as fast as it should: an active test");
  answer.next =
      "See whether its job waits for data or for a peer: stoker why idle, `stoker history "
      "sm_active`.";
  return answer;
}

}  // namespace stoker::doctor
