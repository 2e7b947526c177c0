// Fabric analyzer: is a link as wide and as fast as its ends can, and as it was?
#include <fmt/format.h>

#include <algorithm>

#include "fabric/signs.h"

namespace stoker::fabric {
namespace {

// The widest that links of switches and adapters have: 8X and 12X, which agents list as supported, are of ports of
// 2004 and of backplanes, and a link that comes up as 4X is whole.
constexpr unsigned usual_lanes = 4;

// A rate that both ends agree on: the lesser of what each tells.
LinkRate rate_of(const Port& one, const Port& other) {
  const auto lesser = [](const auto& a, const auto& b) {
    return a && b ? std::min(a, b) : a ? a : b;
  };
  return {lesser(one.rate.lanes, other.rate.lanes), lesser(one.rate.speed, other.rate.speed)};
}

struct RatePair {
  const Port& one;
  const Port& other;
  LinkRate now;
};

std::string set_lower(const Look& look, const Cable& cable, bool one, bool other) {
  if (one && other) return "both ends";
  return look.end_text(one ? cable.one : cable.other);
}

void add_speed(const Look& look, const Cable& cable, const RatePair& pair,
               std::vector<Sign>& signs) {
  if (!pair.now.speed) return;
  const auto enabled = fastest(pair.one.speeds_enabled & pair.other.speeds_enabled);
  const auto supported = fastest(pair.one.speeds_supported & pair.other.speeds_supported);
  Sign sign{.verdict = Verdict::slow};
  if (enabled && *pair.now.speed < *enabled) {
    sign.message = fmt::format("runs at {} and both ends have {} enabled", to_string(pair.now),
                               to_string(*enabled));
    sign.cause =
        "It did not come up faster: the cable or its module is not made for it or is broken, or "
        "either port.";
  } else if (supported && *pair.now.speed < *supported) {
    const auto lower = [&](const Port& port) { return fastest(port.speeds_enabled) < supported; };
    sign.message = fmt::format("runs at {} and both ends support {}", to_string(pair.now),
                               to_string(*supported));
    sign.cause = fmt::format("Faster speeds are not enabled at {}.",
                             set_lower(look, cable, lower(pair.one), lower(pair.other)));
    sign.action = Action::fix_config;
  } else {
    return;
  }
  signs.push_back(std::move(sign));
}

void add_width(const Look& look, const Cable& cable, const RatePair& pair,
               std::vector<Sign>& signs) {
  if (!pair.now.lanes) return;
  const auto enabled = widest(pair.one.widths_enabled & pair.other.widths_enabled);
  auto supported = widest(pair.one.widths_supported & pair.other.widths_supported);
  if (supported) supported = std::min(*supported, usual_lanes);
  Sign sign{.verdict = Verdict::narrow};
  if (enabled && *pair.now.lanes < *enabled && *pair.now.lanes < usual_lanes) {
    sign.message = fmt::format("runs at {} and both ends have {}X enabled", to_string(pair.now),
                               std::min(*enabled, usual_lanes));
    sign.cause =
        "It came up without all of its lanes: the cable or its module is broken or dirty, or "
        "either port.";
  } else if (supported && *pair.now.lanes < *supported) {
    const auto lower = [&](const Port& port) { return widest(port.widths_enabled) < supported; };
    sign.message =
        fmt::format("runs at {} and both ends support {}X", to_string(pair.now), *supported);
    sign.cause = fmt::format("More lanes are not enabled at {}.",
                             set_lower(look, cable, lower(pair.one), lower(pair.other)));
    sign.action = Action::fix_config;
  } else {
    return;
  }
  signs.push_back(std::move(sign));
}

// As it was in the reference; nullopt where it was another cable, or is not told.
std::optional<LinkRate> earlier_rate(const Look& look, const Cable& cable) {
  const Sweep* reference = look.reference();
  if (reference == nullptr) return std::nullopt;
  const Port* one = reference->port(cable.one);
  const Port* other = reference->port(cable.other);
  if (one == nullptr || other == nullptr || one->peer != cable.other) return std::nullopt;
  return rate_of(*one, *other);
}

void add_less_than_before(const Look& look, const LinkRate& was, const LinkRate& now,
                          std::vector<Sign>& signs) {
  const auto worsen = [&](Verdict verdict) {
    for (Sign& sign : signs) {
      if (sign.verdict != verdict) continue;
      sign.severity = Severity::error;
      sign.evidence.push_back(fmt::format("{} in {}", to_string(was), look.reference_text()));
      return;
    }
    signs.push_back(
        {.verdict = verdict,
         .severity = Severity::error,
         .message = fmt::format("runs at {}, and at {} in {}", to_string(now), to_string(was),
                                look.reference_text()),
         .cause = "It came up slower than it was: the cable or its module, or either port."});
  };
  if (was.lanes && now.lanes && *now.lanes < *was.lanes) worsen(Verdict::narrow);
  if (was.speed && now.speed && *now.speed < *was.speed) worsen(Verdict::slow);
}

}  // namespace

void add_rate_signs(const Look& look, const Cable& cable, std::vector<Sign>& signs) {
  const Port* one = look.now.port(cable.one);
  const Port* other = look.now.port(cable.other);
  if (one == nullptr || other == nullptr) return;
  const RatePair pair{*one, *other, rate_of(*one, *other)};
  add_speed(look, cable, pair, signs);
  add_width(look, cable, pair, signs);
  if (const auto was = earlier_rate(look, cable)) {
    add_less_than_before(look, *was, pair.now, signs);
  }
}

}  // namespace stoker::fabric
