// Simulated node: what operators and users do to it.
#include <fmt/format.h>

#include <algorithm>

#include "device/simnode/faults.h"
#include "device/simnode/loads.h"
#include "device/simnode/mig.h"
#include "device/simnode/text_field.h"

namespace stoker::simnode {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t event_mig_change = 0x100;  // NVML's event bit
constexpr unsigned max_pid = 0x7FFFFFFF;

Result<void> need_mig(const Change& change) {
  for (const unsigned row : change.gpus) {
    if (change.gpu(row).mig.capable != 0) continue;
    return fail(ErrorCode::not_supported, fmt::format("GPU {} has no MIG", row));
  }
  return {};
}

sim::Process* find_process(sim::Gpu& gpu, std::uint32_t pid) {
  for (auto& process : gpu.processes) {
    if (process.kind != sim::ProcessKind::none && process.pid == pid) return &process;
  }
  return nullptr;
}

sim::Process* free_process(sim::Gpu& gpu) {
  for (auto& process : gpu.processes) {
    if (process.kind == sim::ProcessKind::none) return &process;
  }
  return nullptr;
}

Result<std::string> add_process(Change& change, std::uint32_t pid) {
  const auto& args = change.request.args;
  const std::string name = args.size() > 2 ? args[2] : "python3";
  std::uint64_t memory_mib = 1024;
  if (args.size() > 3) {
    const auto parsed = parse_number(args[3], "MIB", 0, 1'000'000);
    if (!parsed) return fail(parsed.error());
    memory_mib = *parsed;
  }
  for (const unsigned row : change.gpus) {
    sim::Gpu& gpu = change.gpu(row);
    if (find_process(gpu, pid) != nullptr) {
      return fail(ErrorCode::invalid_input, fmt::format("GPU {} has process {} already", row, pid));
    }
    if (free_process(gpu) == nullptr) {
      return fail(ErrorCode::unavailable,
                  fmt::format("GPU {} holds {} processes already", row, sim::max_processes));
    }
  }
  for_each_gpu(change, [&](sim::Gpu& gpu, unsigned) {
    sim::Process& process = *free_process(gpu);
    process = {.kind = sim::ProcessKind::compute,
               .pid = pid,
               .gpu_instance = sim::no_instance,
               .compute_instance = sim::no_instance,
               .used_bytes = memory_mib * mib};
    put(process.name, name);
    count_processes(gpu);
  });
  return fmt::format("process {} ({}) holds {} MiB on {}", pid, name, memory_mib,
                     gpu_words(change.gpus));
}

Result<std::string> remove_process(Change& change, std::uint32_t pid) {
  for (const unsigned row : change.gpus) {
    if (find_process(change.gpu(row), pid) != nullptr) continue;
    return fail(ErrorCode::invalid_input, fmt::format("GPU {} has no process {}", row, pid));
  }
  for_each_gpu(change, [&](sim::Gpu& gpu, unsigned) {
    *find_process(gpu, pid) = sim::Process{};
    count_processes(gpu);
  });
  return fmt::format("process {} has left {}", pid, gpu_words(change.gpus));
}

}  // namespace

Result<std::string> apply_mig_mode(Change& change) {
  const std::string& word = change.request.args[0];
  if (word != "on" && word != "off") {
    return fail(ErrorCode::invalid_input, "mig-mode has to be on or off, not '" + word + "'");
  }
  if (auto has = need_mig(change); !has) return fail(has.error());
  for_each_gpu(change, [&](sim::Gpu& gpu, unsigned row) {
    set_mig_mode(word == "on", gpu.mig);
    begin_load(gpu, row, gpu.load.kind, gpu.load.seed, change.now_ns);
    add_event(change.state, event_mig_change, 0, row);
  });
  return "MIG is " + word + " on " + gpu_words(change.gpus);
}

Result<std::string> apply_mig_create(Change& change) {
  if (auto has = need_mig(change); !has) return fail(has.error());
  std::vector<sim::Gpu> made;
  std::string words;
  for (const unsigned row : change.gpus) {
    made.push_back(change.gpu(row));
    auto instance = create_instance(change.request.args[0], made.back());
    if (!instance) return fail(instance.error());
    words += fmt::format("{}GPU {}: {}", words.empty() ? "" : "; ", row, *instance);
  }
  for (std::size_t i = 0; i < change.gpus.size(); ++i) {
    change.gpu(change.gpus[i]).mig = made[i].mig;
    add_event(change.state, event_mig_change, 0, change.gpus[i]);
  }
  return words;
}

Result<std::string> apply_process(Change& change) {
  const auto& args = change.request.args;
  const std::string& verb = args[0];
  const auto pid = parse_number(args[1], "PID", 1, max_pid);
  if (!pid) return fail(pid.error());
  if (verb == "add") return add_process(change, static_cast<std::uint32_t>(*pid));
  if (verb == "remove") return remove_process(change, static_cast<std::uint32_t>(*pid));
  return fail(ErrorCode::invalid_input, "process wants add or remove, not '" + verb + "'");
}

Result<std::string> apply_kmsg(Change& change) {
  change.lines.push_back({KernelLevel::warning, change.request.args[0], std::nullopt});
  return "the kernel says: " + change.request.args[0];
}

}  // namespace stoker::simnode
