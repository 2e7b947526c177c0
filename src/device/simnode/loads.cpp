#include "device/simnode/loads.h"

#include <array>

#include "device/simnode/sim_node.h"

namespace stoker::simnode {
namespace {

struct Row {
  std::string_view name;
  sim::LoadKind kind;
};
constexpr std::array<Row, 8> rows{{{"idle", sim::LoadKind::idle},
                                   {"training", sim::LoadKind::training},
                                   {"inference", sim::LoadKind::decode},
                                   {"hung", sim::LoadKind::hung_waiting},
                                   {"missing", sim::LoadKind::hung_missing},
                                   {"starved", sim::LoadKind::starved},
                                   {"alu", sim::LoadKind::alu},
                                   {"pipeline-wait", sim::LoadKind::pipeline_wait}}};

}  // namespace

std::optional<sim::LoadKind> find_load(std::string_view name) {
  for (const auto& row : rows) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

std::string load_name(sim::LoadKind kind) {
  for (const auto& row : rows) {
    if (row.kind == kind) return std::string(row.name);
  }
  return "unknown";
}

std::vector<std::string> load_names() {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> load_kinds() { return load_names(); }

}  // namespace stoker::simnode
