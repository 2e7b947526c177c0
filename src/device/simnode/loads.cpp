#include "device/simnode/loads.h"

#include <array>

#include "device/sim/load_model.h"
#include "device/simnode/sim_node.h"
#include "device/simnode/text_field.h"

namespace stoker::simnode {
namespace {

struct Row {
  std::string_view name;
  sim::LoadKind kind;
};
constexpr std::array<Row, 8> load_rows{{{"idle", sim::LoadKind::idle},
                                        {"training", sim::LoadKind::training},
                                        {"inference", sim::LoadKind::decode},
                                        {"hung", sim::LoadKind::hung_waiting},
                                        {"missing", sim::LoadKind::hung_missing},
                                        {"starved", sim::LoadKind::starved},
                                        {"alu", sim::LoadKind::alu},
                                        {"pipeline-wait", sim::LoadKind::pipeline_wait}}};

constexpr std::uint32_t first_pid = 4'194'305;

sim::Process* load_process(sim::Gpu& gpu, std::uint32_t pid) {
  sim::Process* free_row = nullptr;
  for (auto& process : gpu.processes) {
    if (process.kind == sim::ProcessKind::none) {
      if (free_row == nullptr) free_row = &process;
    } else if (process.pid == pid) {
      return &process;
    }
  }
  return free_row;
}

}  // namespace

std::optional<sim::LoadKind> find_load(std::string_view name) {
  for (const auto& row : load_rows) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

std::string load_name(sim::LoadKind kind) {
  for (const auto& row : load_rows) {
    if (row.kind == kind) return std::string(row.name);
  }
  return "unknown";
}

std::vector<std::string> load_names() {
  std::vector<std::string> names;
  names.reserve(load_rows.size());
  for (const auto& row : load_rows) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> load_kinds() { return load_names(); }

void begin_load(sim::Gpu& gpu, unsigned row, sim::LoadKind kind, std::uint64_t seed,
                std::uint64_t now_ns) {
  sim::start_load(gpu, kind, seed, now_ns);
  sim::Process* process = load_process(gpu, first_pid + row);
  if (process == nullptr) return;
  *process = {};
  // In MIG mode processes belong to instances, and nobody has said which.
  if (kind != sim::LoadKind::idle && gpu.mig.mode == 0) {
    process->kind = sim::ProcessKind::compute;
    process->pid = first_pid + row;
    process->gpu_instance = sim::no_instance;
    process->compute_instance = sim::no_instance;
    process->used_bytes = sim::activity(gpu, now_ns).load_memory_bytes;
    put(process->name, load_name(kind));
  }
  count_processes(gpu);
}

void count_processes(sim::Gpu& gpu) {
  gpu.process_count = 0;
  for (std::uint32_t i = 0; i < sim::max_processes; ++i) {
    if (gpu.processes[i].kind != sim::ProcessKind::none) gpu.process_count = i + 1;
  }
}

}  // namespace stoker::simnode
