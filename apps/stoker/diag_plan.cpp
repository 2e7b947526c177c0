#include "diag_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "api/text_table.h"
#include "base/closest.h"
#include "base/text.h"

namespace stoker::app {
namespace {

using diag::HostFaults;

// "wrong-sm=5@3": a name, a value, a card; each of the last two may be missing.
struct FaultWord {
  std::string name;
  std::string value;
  std::optional<std::uint32_t> gpu;
};

Result<FaultWord> parse_fault(const std::string& text) {
  FaultWord out;
  const auto at = text.find('@');
  if (at != std::string::npos) {
    out.gpu = whole_number<std::uint32_t>(std::string_view(text).substr(at + 1));
    if (!out.gpu)
      return fail(ErrorCode::invalid_input,
                  fmt::format("'{}': behind @ stands the number of a GPU", text));
  }
  const std::string_view left = std::string_view(text).substr(0, at);
  const auto equals = left.find('=');
  out.name = left.substr(0, equals);
  if (equals != std::string_view::npos) out.value = left.substr(equals + 1);
  return out;
}

constexpr std::uint32_t simulated_multiprocessors = 8;
constexpr std::uint64_t simulated_bytes = 8 << 20;
constexpr std::uint64_t simulated_words = simulated_bytes / 4;

// One fault of a simulated card: its name, the value that is taken if none is given, the least and the most that it may
// be, and what it does.
struct FaultRow {
  const char* name;
  const char* fallback;
  double least;
  double most;
  const char* help;
  void (*set)(HostFaults& faults, double value);
};

const std::array<FaultRow, 15> fault_rows = {{
    {"stuck-bit", "4096", 0, static_cast<double>(simulated_words - 1),
     "a bit of this 32-bit word of its memory is always 1",
     [](HostFaults& faults, double value) {
       faults.stuck_bit = diag::StuckBit{static_cast<std::uint64_t>(value), 5, true};
     }},
    {"wrong-sm", "0", 0, simulated_multiprocessors - 1, "this SM computes wrongly",
     [](HostFaults& faults, double value) {
       faults.wrong_multiprocessor = static_cast<int>(value);
     }},
    {"slow-memory", "2", 1, 1e6, "its memory is so many times slower",
     [](HostFaults& faults, double value) { faults.slow_memory = value; }},
    {"slow-pcie", "2", 1, 1e6, "its PCIe link is",
     [](HostFaults& faults, double value) { faults.slow_pcie = value; }},
    {"slow-link", "2", 1, 1e6, "its NVLinks are",
     [](HostFaults& faults, double value) { faults.slow_link = value; }},
    {"throttle", "2", 1, 1e6, "its tensor cores are, as a card that holds its clocks down",
     [](HostFaults& faults, double value) { faults.slow_tensor = value; }},
    {"no-memory", "1", 0, 1, "every allocation fails",
     [](HostFaults& faults, double value) { faults.no_memory = value != 0; }},
    {"no-peer", "1", 0, 1, "reaches no other card",
     [](HostFaults& faults, double value) { faults.no_peer = value != 0; }},
    {"dead", "1", 0, 1, "every call fails",
     [](HostFaults& faults, double value) { faults.dead = value != 0; }},
    {"hang", "1", 0, 1, "a launch does not return",
     [](HostFaults& faults, double value) { faults.hangs = value != 0; }},
    {"no-nccl", "1", 0, 1, "there is no NCCL",
     [](HostFaults& faults, double value) { faults.no_nccl = value != 0; }},
    {"nccl-refuses", "1", 0, 1, "NCCL is there and does not start",
     [](HostFaults& faults, double value) { faults.nccl_refuses = value != 0; }},
    {"nccl-rests", "1", 0, 1, "NCCL does nothing from its second all-reduce on",
     [](HostFaults& faults, double value) { faults.nccl_rests = value != 0; }},
    {"nccl-wrong", "1", 0, 1, "what NCCL brings to it is wrong",
     [](HostFaults& faults, double value) { faults.nccl_wrong = value != 0; }},
    {"nccl-hang", "1", 0, 1, "NCCL does not return",
     [](HostFaults& faults, double value) { faults.nccl_hangs = value != 0; }},
}};

// A number from `least` to `most`; whole ones where a fault counts them.
Result<double> fault_value(const std::string& given, const FaultRow& row, const std::string& what) {
  const std::string text = given.empty() ? row.fallback : given;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  // A comparison with "not a number" is false.
  if (end == text.c_str() + text.size() && value >= row.least && value <= row.most) return value;
  return fail(ErrorCode::invalid_input, fmt::format("--fault {}: '{}' is no number from {} to {}",
                                                    what, text, row.least, row.most));
}

Result<void> apply_fault(const std::string& text, std::vector<diag::HostCardOptions>& cards) {
  const auto word = parse_fault(text);
  if (!word) return fail(word.error());
  const auto* const row =
      std::ranges::find_if(fault_rows, [&](const FaultRow& one) { return word->name == one.name; });
  if (row == fault_rows.end()) {
    std::vector<std::string> names;
    names.reserve(fault_rows.size());
    for (const auto& one : fault_rows) names.emplace_back(one.name);
    return fail(ErrorCode::invalid_input,
                fmt::format("--fault: there is no '{}'; there are {}", word->name,
                            listed(closest_first(word->name, names))));
  }
  const auto value = fault_value(word->value, *row, text);
  if (!value) return fail(value.error());
  bool any = false;
  for (auto& card : cards) {
    if (word->gpu && *word->gpu != card.facts.index) continue;
    row->set(card.faults, *value);
    any = true;
  }
  if (any) return {};
  return fail(ErrorCode::invalid_input, fmt::format("--fault {}: GPU {} is not among those tested",
                                                    text, word->gpu.value_or(0)));
}

// A card of this host in the place of a simulated one. Its rates are a quarter above the limits of its product, so that a
// sound one passes.
diag::HostCardOptions host_card_of(const store::GpuSnapshot& gpu) {
  diag::HostCardOptions out;
  out.facts = {.index = gpu.info.index,
               .uuid = gpu.info.uuid,
               .name = gpu.info.name,
               .pci = gpu.info.pci.sysfs(),
               .compute_capability = gpu.info.compute_capability,
               .multiprocessors = simulated_multiprocessors,
               .shared_bytes = 1 << 16,
               .memory_bytes = simulated_bytes,
               .simulated = true};
  const diag::CardTraits traits{.name = gpu.info.name,
                                .pcie_generation = gpu.info.max_pcie_generation,
                                .pcie_width = gpu.info.max_pcie_width,
                                .compute_capability = gpu.info.compute_capability};
  const auto above = [&](const char* test, double& rate) {
    if (const auto limit = diag::limit_of(test, traits)) rate = 1.25 * limit->value;
  };
  above("memory_read", out.rates.memory);
  above("tensor_load", out.rates.tensor);
  above("pcie_to_card", out.rates.pcie);
  above("peer_copy", out.rates.link);
  return out;
}

// What can't be injected by what runs is refused: it would be told as a card that passed.
Result<void> apply_injection(const std::string& text, diag::Plan& plan) {
  const auto word = parse_fault(text);
  if (!word) return fail(word.error());
  const auto number = whole_number<std::uint32_t>(word->value);
  const bool flips = word->name == "bit-flips" && number > 0U;
  // The numbers of SMs that there are have four digits at most.
  const bool wrong = word->name == "wrong-sm" && number < 10000U;
  if (!number || word->gpu || (!flips && !wrong)) {
    return fail(ErrorCode::invalid_input,
                fmt::format("--inject: '{}' is neither bit-flips=N, 1 or more, nor wrong-sm=N, a "
                            "number of an SM; both are of every card that is tested",
                            text));
  }
  const auto step = flips ? diag::Step::memory : diag::Step::compute;
  if (std::ranges::find(plan.steps, step) == plan.steps.end()) {
    return fail(ErrorCode::invalid_input,
                fmt::format("--inject {}: that is found by the step {}, which is not among what "
                            "was asked for",
                            text, diag::to_string(step)));
  }
  if (flips) plan.injection.bit_flips = *number;
  if (wrong) plan.injection.wrong_multiprocessor = static_cast<int>(*number);
  return {};
}

constexpr auto all_steps = std::to_array<diag::Step>(
    {diag::Step::memory, diag::Step::bandwidth, diag::Step::compute, diag::Step::tensor,
     diag::Step::pcie, diag::Step::peers, diag::Step::nccl});

Result<void> choose_test(const std::string& name, DiagChoice& choice) {
  const auto add = [&choice](diag::Step step) {
    if (std::ranges::find(choice.steps, step) == choice.steps.end()) choice.steps.push_back(step);
  };
  if (name == "state") {
    choice.state = true;
    return {};
  }
  std::vector<std::string> names = {"state"};
  for (const auto step : all_steps) {
    if (diag::to_string(step) == name) {
      add(step);
      for (const auto& row : diag::test_rows()) {
        if (row.step == step) choice.tests.emplace_back(row.name);
      }
      return {};
    }
    names.emplace_back(diag::to_string(step));
  }
  if (const auto* row = diag::find_test(name)) {
    add(row->step);
    choice.tests.emplace_back(row->name);
    return {};
  }
  for (const auto& row : diag::test_rows()) names.emplace_back(row.name);
  return fail(
      ErrorCode::invalid_input,
      fmt::format("--test: there is no '{}'{}; `stoker diag --list` has them all", name,
                  did_you_mean(name, names).empty() ? "" : ", " + did_you_mean(name, names)));
}

// Ranges of the command line let "not a number" through.
Result<void> check_numbers(const DiagFlags& flags) {
  if (!std::isfinite(flags.load_seconds))
    return fail(ErrorCode::invalid_input, "--load-seconds is a number from 0.1 to 600");
  if (!std::isfinite(flags.memory_share))
    return fail(ErrorCode::invalid_input, "--memory-share is a number from 0.01 to 1");
  return {};
}

Result<DiagChoice> chosen_tests(const DiagFlags& flags) {
  DiagChoice out;
  if (flags.tests.empty()) {
    out.state = true;
    if (flags.level == 2) out.steps.assign(all_steps.begin(), all_steps.end());
    return out;
  }
  for (const auto& name : flags.tests) {
    if (auto ok = choose_test(name, out); !ok) return fail(ok.error());
  }
  return out;
}

}  // namespace

Result<std::vector<std::uint32_t>> chosen_gpus(const DiagFlags& flags,
                                               const store::Snapshot& snapshot) {
  std::vector<std::uint32_t> out;
  std::vector<std::string> there;
  there.reserve(snapshot.gpus.size());
  for (const auto& gpu : snapshot.gpus) there.push_back(std::to_string(gpu.info.index));
  if (!flags.mig.empty()) {
    for (const auto& gpu : snapshot.gpus) {
      for (const auto& mig : gpu.info.migs) {
        if (mig.uuid == flags.mig) return std::vector{gpu.info.index};
      }
    }
    return fail(ErrorCode::not_found,
                fmt::format("--mig: there is no instance '{}' here", flags.mig));
  }
  if (flags.gpus.empty()) {
    for (const auto& gpu : snapshot.gpus) out.push_back(gpu.info.index);
    return out;
  }
  for (const auto& wanted : flags.gpus) {
    const auto found = std::ranges::find_if(snapshot.gpus, [&](const store::GpuSnapshot& gpu) {
      return std::to_string(gpu.info.index) == wanted || gpu.info.uuid == wanted ||
             gpu.info.pci.sysfs() == wanted;
    });
    if (found == snapshot.gpus.end()) {
      return fail(ErrorCode::not_found,
                  fmt::format("--gpu: there is no GPU '{}' here; there are {}", wanted,
                              there.empty() ? "none" : listed(there)));
    }
    out.push_back(found->info.index);
  }
  return out;
}

Result<DiagChoice> choose_tests(const DiagFlags& flags) {
  if (flags.level == 3 || flags.level == 4) {
    return fail(ErrorCode::invalid_input,
                fmt::format("--level {} is not there yet: 1 and 2 are", flags.level));
  }
  if (flags.level != 1 && flags.level != 2)
    return fail(ErrorCode::invalid_input, "--level is 1 or 2");
  if (auto ok = check_numbers(flags); !ok) return fail(ok.error());
  auto out = chosen_tests(flags);
  if (out && out->steps.empty() && !(flags.faults.empty() && flags.injections.empty())) {
    return fail(ErrorCode::invalid_input,
                "--fault and --inject are found by active tests: --level 2, or --test");
  }
  return out;
}

Result<diag::Plan> make_plan(const DiagFlags& flags, const DiagChoice& choice,
                             const store::Snapshot& snapshot,
                             const std::vector<std::uint32_t>& gpus,
                             const std::vector<std::uint32_t>& testable) {
  diag::Plan plan{.steps = choice.steps,
                  .memory_share = flags.memory_share,
                  .load_seconds = flags.load_seconds};
  const bool simulated = store::is_simulated(snapshot).value_or(false);
  if (!flags.faults.empty() && !simulated) {
    return fail(ErrorCode::invalid_input,
                "--fault is of simulated cards (--sim PROFILE); a real card takes --inject");
  }
  std::vector<diag::HostCardOptions> asked;
  asked.reserve(gpus.size());
  for (const auto& gpu : snapshot.gpus) {
    if (std::ranges::find(gpus, gpu.info.index) != gpus.end()) asked.push_back(host_card_of(gpu));
  }
  for (const auto& text : flags.faults) {
    if (auto ok = apply_fault(text, asked); !ok) return fail(ok.error());
  }
  for (const auto& text : flags.injections) {
    if (auto ok = apply_injection(text, plan); !ok) return fail(ok.error());
  }
  if (const int wrong = plan.injection.wrong_multiprocessor;
      simulated && wrong >= static_cast<int>(simulated_multiprocessors)) {
    return fail(ErrorCode::invalid_input,
                fmt::format("--inject wrong-sm={}: a simulated card has SMs 0 to {}", wrong,
                            simulated_multiprocessors - 1));
  }
  for (const auto& card : asked) {
    const auto index = card.facts.index;
    if (std::ranges::find(testable, index) == testable.end()) continue;
    plan.cards.push_back({index, flags.mig.empty() ? card.facts.uuid : flags.mig});
    if (simulated) plan.simulated.push_back(card);
  }
  return plan;
}

std::vector<diag::CardTraits> traits_of(const store::Snapshot& snapshot, bool mig) {
  std::vector<diag::CardTraits> out;
  out.reserve(snapshot.gpus.size());
  for (const auto& gpu : snapshot.gpus) {
    out.push_back({.gpu = gpu.info.index,
                   .name = gpu.info.name,
                   .uuid = gpu.info.uuid,
                   .serial = gpu.info.serial,
                   .pcie_generation = gpu.info.max_pcie_generation,
                   .pcie_width = gpu.info.max_pcie_width,
                   .compute_capability = gpu.info.compute_capability,
                   .direct_links = std::ranges::any_of(
                       gpu.info.nvlinks,
                       [](const auto& link) { return link.remote == device::LinkEnd::gpu; }),
                   .mig = mig || gpu.info.mig_enabled});
  }
  return out;
}

std::string diag_list() {
  api::TextTable tests({{.title = "test"}, {.title = "step"}, {.title = "what"}});
  for (const auto& row : diag::test_rows()) {
    tests.add(
        {std::string(row.name), std::string(diag::to_string(row.step)), std::string(row.text)});
  }
  api::TextTable faults(
      {{.title = "--fault"}, {.title = "usual"}, {.title = "what a simulated card has"}});
  for (const auto& row : fault_rows) faults.add({row.name, row.fallback, row.help});
  return fmt::format(
      "Level 1 has the step `state`; level 2 has these too. Whatever is run, load_state and "
      "load_xids "
      "say what came over each card meanwhile.\n{}\n{}",
      tests.text(), faults.text());
}

}  // namespace stoker::app
