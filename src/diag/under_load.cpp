#include "diag/under_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "catalog/clock_holds.h"

namespace stoker::diag {
namespace {

struct LoadCounter {
  FieldId field;
  double most;  // rise that is no fault
  bool is_fault;
  std::string_view text;
  std::string_view source;
};
constexpr auto load_counters = std::to_array<LoadCounter>({
#define STOKER_LOAD_COUNTER(field, most, is_fault, text, source) \
  {FieldId::field, most, (is_fault) != 0, text, source},
#include "diag/load_counters.def"
#undef STOKER_LOAD_COUNTER
});

// Without these nobody knows whether its memory had an error.
bool is_needed(FieldId field) {
  return field == FieldId::ecc_uncorrected_volatile ||
         field == FieldId::remapped_rows_uncorrectable;
}

const TestResult* state_in(const std::vector<TestResult>& states, const TestResult& like) {
  const auto found = std::ranges::find_if(states, [&](const TestResult& one) {
    return one.name == like.name && one.uuid == like.uuid;
  });
  return found == states.end() ? nullptr : &*found;
}

// Of a link's counter the sum over all links of the card that tell it.
Reading counter_of(const store::GpuSnapshot& gpu, FieldId id) {
  if (field(id).entity != EntityKind::nvlink) return gpu.readings.get(id);
  Reading out = Reading::none(Reason::not_supported, {});
  std::int64_t sum = 0;
  for (const auto& [link, readings] : gpu.nvlinks) {
    const Reading one = readings.get(id);
    if (!one.ok()) continue;
    sum += static_cast<std::int64_t>(as_double(one.value));
    out = Reading::of(sum, one.taken_at);
  }
  return out;
}

// Readings come five times a second; a load that is shorter may have none.
constexpr Nanoseconds readings_within = Seconds(2);

class CardUnderLoad {
 public:
  CardUnderLoad(const UnderLoad& load, const store::GpuSnapshot& card) : load_(load), card_(card) {}

  TestResult state() {
    const auto* after = store::gpu_at(load_.after.snapshot, card_.info.pci);
    if (is_there(after)) {
      compare_states();
      for (const auto& counter : load_counters) compare(counter, *after);
    }
    look_at_clocks();
    return result("load_state");
  }

  TestResult xids() {
    for (const auto& event : load_.events) {
      if (event.gpu != card_.info.index) continue;
      hear(event);
    }
    if (!load_.unheard.empty()) unknown_.push_back(load_.unheard);
    return result("load_xids");
  }

 private:
  // Is there a state of after to be compared?
  bool is_there(const store::GpuSnapshot* after) {
    const auto* watched = store::gpu_at(load_.during, card_.info.pci);
    for (const auto* now : {watched, after}) {
      if (now == nullptr || now->state == device::GpuState::present) continue;
      wrong_.push_back(fmt::format("the card is {}{}", device::to_string(now->state),
                                   now->state_detail.empty() ? "" : ": " + now->state_detail));
      return false;
    }
    const auto& source = load_.after.snapshot.source;
    if (source.state != device::SourceState::running) {
      unknown_.push_back(fmt::format("the driver does not tell of the cards any more ({}){}",
                                     device::to_string(source.state),
                                     source.detail.empty() ? "" : ": " + source.detail));
      return false;
    }
    if (after != nullptr) return true;
    wrong_.push_back("the driver does not tell of the card any more" +
                     (source.detail.empty() ? std::string() : ": " + source.detail));
    return false;
  }

  void compare_states() {
    for (const auto& after : load_.after.states) {
      if (after.gpu != card_.info.index || after.uuid != card_.info.uuid) continue;
      const auto* before = state_in(load_.before.states, after);
      const bool was_wrong = before != nullptr && before->verdict == Verdict::fail;
      const bool was_unknown = before == nullptr || before->hindered;
      if (after.verdict == Verdict::fail) {
        if (was_wrong) {
          told_.push_back(fmt::format("{} had failed before: {}", after.name, before->reason));
        } else if (was_unknown) {
          wrong_.push_back(fmt::format("{} fails after it, and was not known before: {}",
                                       after.name, after.reason));
        } else {
          wrong_.push_back(fmt::format("{}: {}", after.name, after.reason));
        }
      } else if (after.hindered && !was_wrong && !was_unknown) {
        unknown_.push_back(fmt::format("{} can't be told any more: {}", after.name, after.reason));
      }
    }
  }

  void compare(const LoadCounter& counter, const store::GpuSnapshot& after) {
    const Reading was = counter_of(card_, counter.field);
    const Reading is = counter_of(after, counter.field);
    const auto is_absent = [](const Reading& one) {
      return one.reason == Reason::not_supported || one.reason == Reason::no_source;
    };
    if (!was.ok() || !is.ok()) {
      if (is_absent(was) && is_absent(is)) return;
      if (!was.ok() && !is_needed(counter.field)) return;
      unknown_.push_back(
          fmt::format("{}: {}", counter.text, describe(was.ok() ? is.reason : was.reason)));
      return;
    }
    const double rise = as_double(is.value) - as_double(was.value);
    if (rise == 0) return;
    if (rise < 0) {
      unknown_.push_back(
          fmt::format("{} were {:.0f} and are {:.0f}: it was reset, or the driver loaded anew",
                      counter.text, as_double(was.value), as_double(is.value)));
      return;
    }
    const std::string text = fmt::format("{:.0f} {}", rise, counter.text);
    const double minutes = static_cast<double>((load_.ended - load_.began).count()) / 6e10;
    const double most = counter.field == FieldId::pcie_replays
                            ? counter.most * std::max(1.0, minutes)
                            : counter.most;
    (counter.is_fault && rise > most ? wrong_ : told_).push_back(text);
    if (counter.is_fault && rise > most) sources_.emplace_back(counter.source);
  }

  // A reading before the work began says nothing of it.
  void look_at_clocks() {
    const auto found = load_.samples.find(card_.info.index);
    std::uint64_t reasons = 0;
    bool told = false;
    if (found != load_.samples.end()) {
      for (const auto& sample : found->second) {
        if (sample.at < load_.began || sample.at > load_.ended) continue;
        told = told || sample.throttle_reasons.has_value();
        reasons |= sample.throttle_reasons.value_or(0);
      }
    }
    for (const ClockHold& hold : clock_holds) {
      if (hold.is_fault && (reasons & hold.bit) != 0)
        wrong_.push_back(fmt::format("clocks were held down: {}", hold.name));
    }
    const bool has_none =
        card_.readings.get(FieldId::throttle_reasons).reason == Reason::not_supported;
    if (!told && !has_none && load_.ended - load_.began >= readings_within)
      unknown_.emplace_back("nothing was read of its clocks while it worked");
  }

  void hear(const LoadEvent& event) {
    if (!event.is_fault) {
      told_.push_back(event.text);
      return;
    }
    const bool whose = load_.shared && event.of_program;
    (whose ? unknown_ : wrong_)
        .push_back(whose ? event.text + ", while others may use the card" : event.text);
    lines_.insert(lines_.end(), event.details.begin(), event.details.end());
  }

  TestResult result(const char* name) {
    TestResult out{.name = name,
                   .gpu = card_.info.index,
                   .uuid = card_.info.uuid,
                   .serial = card_.info.serial,
                   .verdict = Verdict::pass,
                   .is_beside = true};
    if (!wrong_.empty()) {
      out.verdict = Verdict::fail;
      out.reason = "came under load: " + wrong_.front();
      out.details.assign(wrong_.begin() + 1, wrong_.end());
      out.details.insert(out.details.end(), unknown_.begin(), unknown_.end());
    } else if (!unknown_.empty()) {
      out.verdict = Verdict::not_tested;
      out.hindered = true;
      out.reason = unknown_.front();
      out.details.assign(unknown_.begin() + 1, unknown_.end());
    } else if (!told_.empty()) {
      out.reason = "while it worked: " + told_.front();
    }
    if (out.verdict != Verdict::pass || told_.size() > 1)
      out.details.insert(out.details.end(), told_.begin(), told_.end());
    out.details.insert(out.details.end(), lines_.begin(), lines_.end());
    if (!sources_.empty()) out.limit_source = sources_.front();
    for (auto* list : {&wrong_, &unknown_, &told_, &lines_, &sources_}) list->clear();
    return out;
  }

  const UnderLoad& load_;
  const store::GpuSnapshot& card_;  // as it was before
  std::vector<std::string> wrong_;
  std::vector<std::string> unknown_;
  std::vector<std::string> told_;
  std::vector<std::string> lines_;
  std::vector<std::string> sources_;
};

}  // namespace

std::vector<TestResult> check_under_load(const UnderLoad& load) {
  std::vector<TestResult> out;
  out.reserve(2 * load.gpus.size());
  for (const auto& gpu : load.before.snapshot.gpus) {
    if (std::ranges::find(load.gpus, gpu.info.index) == load.gpus.end()) continue;
    CardUnderLoad card(load, gpu);
    out.push_back(card.state());
    out.push_back(card.xids());
  }
  return out;
}

std::vector<TestResult> not_looked_at(const store::GpuSnapshot& gpu, const std::string& reason) {
  std::vector<TestResult> out;
  for (const char* name : {"load_state", "load_xids"}) {
    out.push_back({.name = name,
                   .gpu = gpu.info.index,
                   .uuid = gpu.info.uuid,
                   .serial = gpu.info.serial,
                   .is_beside = true,
                   .hindered = true,
                   .reason = reason});
  }
  return out;
}

}  // namespace stoker::diag
