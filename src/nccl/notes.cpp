#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "nccl/candidate.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

// Settings that belong in no production job, or that hide a fault (NCCL user guide, environment variables: the group
// "Debugging"; NCCL troubleshooting). Only that they are set is worth a line.
constexpr std::array<std::string_view, 12> worth_naming = {
    "NCCL_P2P_DISABLE",   "NCCL_P2P_LEVEL",   "NCCL_SHM_DISABLE",  "NCCL_IB_DISABLE",
    "NCCL_NET_GDR_LEVEL", "NCCL_NVLS_ENABLE", "NCCL_ALGO",         "NCCL_PROTO",
    "NCCL_IB_GID_INDEX",  "NCCL_IB_TIMEOUT",  "NCCL_CUMEM_ENABLE", "NCCL_NET_SHARED_BUFFERS"};

Finding note(std::string rule, Severity severity, std::string message) {
  Finding finding;
  finding.rule = "nccl-" + std::move(rule);
  finding.severity = severity;
  finding.entity.kind = EntityKind::job;
  finding.message = std::move(message);
  return finding;
}

std::vector<int> ranks_of(const Job& job, const Facts& facts,
                          const std::vector<std::uint32_t>& processes) {
  std::vector<int> ranks;
  for (const auto process : processes) {
    if (const auto rank = rank_of(job, facts, process)) ranks.push_back(*rank);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

void add_environment(const Job& job, const Facts& facts, std::vector<Finding>& out) {
  std::map<std::string, std::map<std::string, std::vector<std::uint32_t>>> values;
  for (const auto index : job.processes) {
    for (const auto& [name, value] : facts.processes[index].env)
      values[name][value].push_back(index);
  }
  for (const auto& [name, by_value] : values) {
    if (by_value.size() > 1) {
      std::string text;
      for (const auto& [value, processes] : by_value) {
        const auto ranks = ranks_of(job, facts, processes);
        text += fmt::format(
            "{}{} ({})", text.empty() ? "" : ", ", value,
            ranks.empty() ? fmt::format("{} processes", processes.size()) : rank_list(ranks));
      }
      auto finding = note("environment-differs", Severity::warning,
                          fmt::format("{} differs between ranks: {}", name, shown(text)));
      finding.cause = "NCCL has to be set alike on all ranks; only interface names may differ";
      finding.fix = "set it alike everywhere";
      out.push_back(std::move(finding));
    } else if (std::find(worth_naming.begin(), worth_naming.end(), name) != worth_naming.end()) {
      out.push_back(note("environment-forced", Severity::info,
                         fmt::format("{} is forced to {}", name, by_value.begin()->first)));
    }
  }
}

void add_versions(const Job& job, const Facts& facts, std::vector<Finding>& out) {
  std::map<std::string, std::vector<std::uint32_t>> versions;
  for (const auto index : job.processes) {
    if (!facts.processes[index].version.empty())
      versions[facts.processes[index].version].push_back(index);
  }
  if (versions.size() < 2) return;
  std::string text;
  for (const auto& [version, processes] : versions) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", version,
                        rank_list(ranks_of(job, facts, processes)));
  }
  auto finding = note("version-differs", Severity::warning,
                      fmt::format("ranks use different versions of NCCL: {}", shown(text)));
  finding.fix = "use one image on every host";
  out.push_back(std::move(finding));
}

void add_paths(const Job& job, const Facts& facts, std::vector<Finding>& out) {
  std::vector<std::uint32_t> without;
  std::size_t over_network = 0;
  for (const auto index : job.processes) {
    const auto& process = facts.processes[index];
    if (!process.over_network || process.network == "Socket") continue;
    ++over_network;
    if (!process.gpu_direct) without.push_back(index);
  }
  if (without.empty()) return;
  auto finding =
      note("no-gpu-direct", Severity::warning,
           fmt::format("the network is used without GPU Direct RDMA by {}",
                       without.size() == over_network ? "all ranks"
                                                      : rank_list(ranks_of(job, facts, without))));
  finding.cause = "data goes through host memory, which costs much of the bandwidth";
  finding.fix =
      "load nvidia_peermem, or use a kernel and driver with DMA-BUF; see NCCL_NET_GDR_LEVEL and "
      "PCIe access control (ACS)";
  finding.source = "NVIDIA/nccl#1412";
  out.push_back(std::move(finding));
}

void add_note_signs(const Job& job, const Facts& facts, std::vector<Finding>& out) {
  std::map<std::string_view, std::pair<std::uint64_t, const Hit*>> by_sign;
  for (const auto index : job.hits) {
    const auto& hit = facts.hits[index];
    if (hit.sign->role != Role::note && hit.sign->role != Role::effect) continue;
    auto& [count, first] = by_sign[hit.sign->id];
    count += hit.count;
    if (first == nullptr) first = &hit;
  }
  for (const auto& [id, each] : by_sign) {
    const auto& [count, hit] = each;
    const bool effect = hit->sign->role == Role::effect;
    auto finding =
        note(std::string(id),
             effect || hit->sign->id == "other_warning" ? Severity::warning : Severity::info,
             fmt::format("{}{} ({} line{})", effect ? "consequence of a failure elsewhere: " : "",
                         hit->sign->cause, count, count == 1 ? "" : "s"));
    finding.fix = hit->sign->next_step;
    finding.source = hit->sign->source;
    finding.location = {.file = facts.files[hit->place.file].name,
                        .line = static_cast<int>(hit->place.line)};
    finding.evidence.push_back(evidence_text(hit->place, facts));
    out.push_back(std::move(finding));
  }
}

}  // namespace

std::vector<Finding> notes_of(const Job& job, const Facts& facts) {
  std::vector<Finding> out;
  add_versions(job, facts, out);
  add_environment(job, facts, out);
  add_paths(job, facts, out);
  add_note_signs(job, facts, out);
  return out;
}

}  // namespace stoker::nccl
