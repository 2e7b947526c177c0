#include "diag_scope.h"

#include <fmt/format.h>

#include <algorithm>

#include "diag/check_state.h"
#include "diag/test_row.h"

namespace stoker::app {
namespace {

using diag::TestResult;

std::vector<std::string> wanted_tests(const DiagChoice& choice) {
  if (!choice.tests.empty()) return choice.tests;
  std::vector<std::string> out;
  out.reserve(diag::test_rows().size());
  for (const auto& row : diag::test_rows()) {
    if (std::ranges::find(choice.steps, row.step) != choice.steps.end()) out.emplace_back(row.name);
  }
  return out;
}

// Who is in the way; empty: nobody.
std::vector<std::string> users_text(const store::GpuSnapshot& gpu) {
  const auto users = diag::users_of(gpu);
  std::vector<std::string> out;
  out.reserve(users.who.size() + 1);
  for (const auto& who : users.who) out.push_back(fmt::format("GPU {}: {}", gpu.info.index, who));
  if (users.unknown && users.who.empty()) {
    out.push_back(fmt::format("GPU {}: its processes can't be read ({})", gpu.info.index,
                              describe(gpu.process_outcome.reason)));
  }
  return out;
}

// Why nothing can be run on it; empty: it can.
std::string obstacle_of(const store::GpuSnapshot& gpu, const DiagFlags& flags) {
  if (gpu.state != device::GpuState::present) {
    return fmt::format("the card is {}{}", device::to_string(gpu.state),
                       gpu.state_detail.empty() ? "" : ": " + gpu.state_detail);
  }
  if (gpu.info.mig_enabled && flags.mig.empty())
    return "it is in MIG mode: test an instance with --mig UUID";
  return "";
}

// Why the driver can't be asked about cards at all; empty: it can.
std::string obstacle_of(const store::Snapshot& snapshot) {
  const auto& source = snapshot.source;
  if (source.state != device::SourceState::running) {
    return fmt::format(
        "the driver did not tell of its cards ({}){}", device::to_string(source.state),
        source.detail.empty() ? ": one that hangs, or the driver itself, keeps it from that"
                              : ": " + source.detail);
  }
  return "";
}

class ScopeMaker {
 public:
  ScopeMaker(const DiagFlags& flags, const DiagChoice& choice)
      : flags_(flags), tests_(wanted_tests(choice)) {}

  DiagScope make(const store::Snapshot& snapshot, const std::vector<std::uint32_t>& gpus) {
    const std::string all = obstacle_of(snapshot);
    if (flags_.gpus.empty() && flags_.mig.empty()) hinder_unseen(snapshot, all);
    if (gpus.empty() && out_.hindered.empty())
      hinder(nullptr, all.empty() ? "no card is there to be tested" : all);
    std::vector<const store::GpuSnapshot*> free;
    free.reserve(snapshot.gpus.size());
    for (const auto& gpu : snapshot.gpus) {
      if (std::ranges::find(gpus, gpu.info.index) == gpus.end()) continue;
      const std::string own = obstacle_of(gpu, flags_);
      if (!all.empty() || !own.empty()) {
        hinder(&gpu, own.empty() ? all : own);
      } else {
        free.push_back(&gpu);
      }
    }
    leave_out_busy(snapshot, gpus, free);
    for (const auto* gpu : free) out_.testable.push_back(gpu->info.index);
    return std::move(out_);
  }

 private:
  void hinder(const store::GpuSnapshot* gpu, const std::string& reason) {
    for (const auto& test : tests_) {
      const auto* row = diag::find_test(test);
      TestResult one{.name = test, .hindered = true, .reason = reason};
      if (row != nullptr) one.unit = std::string(row->unit);
      if (gpu != nullptr) {
        one.gpu = gpu->info.index;
        one.uuid = gpu->info.uuid;
        one.serial = gpu->info.serial;
      }
      out_.hindered.push_back(std::move(one));
    }
  }

  // Cards that are there, and that the driver does not tell of. One that it is not asked for (a virtual machine's) is none.
  void hinder_unseen(const store::Snapshot& snapshot, const std::string& all) {
    const auto& source = snapshot.source;
    if (all.empty() && source.unopened_gpus <= 0) return;
    const std::string why = all.empty() ? fmt::format("{} of the driver's GPUs can't be opened: {}",
                                                      source.unopened_gpus, source.detail)
                                        : all;
    bool named = false;
    if (snapshot.devices != nullptr) {
      for (const auto& [pci, place] : snapshot.devices->gpus) {
        const auto is_here = [&](const store::GpuSnapshot& gpu) { return gpu.info.pci == pci; };
        if (std::ranges::any_of(snapshot.gpus, is_here)) continue;
        hinder(nullptr, fmt::format("the GPU at {}: {}", pci.sysfs(), why));
        named = true;
      }
    }
    if (!named && all.empty()) hinder(nullptr, why);
  }

  void leave_out_busy(const store::Snapshot& snapshot, const std::vector<std::uint32_t>& gpus,
                      std::vector<const store::GpuSnapshot*>& free) {
    if (flags_.allow_busy) return;
    for (const auto& gpu : snapshot.gpus) {
      const bool asked = std::ranges::find(gpus, gpu.info.index) != gpus.end();
      if (!asked || gpu.state != device::GpuState::present) continue;
      for (auto& line : users_text(gpu)) out_.users.push_back(std::move(line));
    }
    if (out_.users.empty()) return;
    for (const auto* gpu : free) {
      const auto own = users_text(*gpu);
      hinder(gpu, own.empty()
                      ? "another of the cards that were asked for is in use: " + out_.users.front()
                      : "in use: " + own.front());
    }
    free.clear();
  }

  const DiagFlags& flags_;
  const std::vector<std::string> tests_;
  DiagScope out_;
};

}  // namespace

DiagScope scope_of(const DiagFlags& flags, const DiagChoice& choice,
                   const store::Snapshot& snapshot, const std::vector<std::uint32_t>& gpus) {
  return ScopeMaker(flags, choice).make(snapshot, gpus);
}

}  // namespace stoker::app
