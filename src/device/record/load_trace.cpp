#include "device/record/load_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace stoker::device::record {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t most_gpus = 64;
constexpr std::uint32_t most_processes = 64;
constexpr std::uint32_t most_ranks = 1'000'000;
constexpr std::size_t longest_job = 128;
constexpr double longest_seconds = 86'400;
constexpr double mebi = 1 << 20;

struct Key {
  std::string_view name;
  FieldId field;
  double times;  // to the field's unit
};
// GPM counts PCIe and NVLink in MiB a second (nvml.h, nvmlGpmMetricId_t).
constexpr auto keys = std::to_array<Key>({{"util", FieldId::utilization, 1},
                                          {"memutil", FieldId::memory_utilization, 1},
                                          {"power_w", FieldId::power, 1},
                                          {"power_limit_w", FieldId::power_limit, 1},
                                          {"sm_mhz", FieldId::sm_clock, 1},
                                          {"temp_c", FieldId::temperature, 1},
                                          {"mem_mib", FieldId::memory_used, mebi},
                                          {"throttle", FieldId::throttle_reasons, 1},
                                          {"graphics", FieldId::graphics_active, 1},
                                          {"sm", FieldId::sm_active, 1},
                                          {"sm_occ", FieldId::sm_occupancy, 1},
                                          {"tensor", FieldId::tensor_active, 1},
                                          {"dram", FieldId::dram_active, 1},
                                          {"fp64", FieldId::fp64_active, 1},
                                          {"fp32", FieldId::fp32_active, 1},
                                          {"fp16", FieldId::fp16_active, 1},
                                          {"pcie_tx", FieldId::pcie_tx, mebi},
                                          {"pcie_rx", FieldId::pcie_rx, mebi},
                                          {"nvl_tx", FieldId::nvlink_tx, mebi},
                                          {"nvl_rx", FieldId::nvlink_rx, mebi}});

std::optional<double> number_of(const Json& object, std::string_view name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<std::uint32_t> whole_of(const Json& object, std::string_view name,
                                      std::uint32_t below) {
  const auto number = number_of(object, name);
  if (!number || *number < 0 || *number >= below || *number != std::floor(*number)) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*number);
}

// A job's name and rank, and what its process does on the host.
std::optional<ProcessOwner> owner_of(const Json& object) {
  ProcessOwner owner;
  const auto job = object.find("job");
  if (job == object.end() || !job->is_string()) return std::nullopt;
  owner.launch = {.id = job->get<std::string>().substr(0, longest_job),
                  .rank = whole_of(object, "rank", most_ranks)};
  const auto cpu = number_of(object, "host_cpu");
  const auto io = number_of(object, "host_io");
  if (cpu && io) owner.work = {.reason = Reason::ok, .cpu_percent = *cpu, .io_per_second = *io};
  return owner;
}

// What is wrong with the line, or the row.
Result<TraceRow> row_of(std::string_view line) {
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) return fail(ErrorCode::invalid_input, "no JSON object");
  const auto at = number_of(object, "t");
  if (!at || *at < 0 || *at > longest_seconds) {
    return fail(ErrorCode::invalid_input, "\"t\" has to be seconds from 0 to 86400");
  }
  const auto gpu = whole_of(object, "gpu", most_gpus);
  if (!gpu) return fail(ErrorCode::invalid_input, "\"gpu\" has to be a number from 0 to 63");
  TraceRow row{.at = std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(*at)),
               .gpu = *gpu};
  row.processes = whole_of(object, "procs", most_processes).value_or(0);
  row.owner = owner_of(object);
  for (const Key& key : keys) {
    if (const auto number = number_of(object, key.name)) {
      row.readings.emplace_back(key.field, *number * key.times);
    }
  }
  return row;
}

}  // namespace

bool LoadTrace::is_one(std::string_view begin) {
  const auto first = begin.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && begin[first] == '{';
}

Result<LoadTrace> LoadTrace::read(std::string_view text, const std::string& file) {
  LoadTrace trace;
  std::size_t number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto row = row_of(line);
    if (row && !trace.rows_.empty() && row->at < trace.rows_.back().at) {
      row = fail(ErrorCode::invalid_input, "\"t\" is before the line above");
    }
    if (!row) {
      return fail(ErrorCode::invalid_input,
                  fmt::format("{}:{}: {}", file, number, row.error().message()));
    }
    trace.gpus_ = std::max(trace.gpus_, row->gpu + 1);
    trace.rows_.push_back(std::move(*row));
  }
  if (trace.rows_.empty()) return fail(ErrorCode::invalid_input, file + " has no line");
  // A part of a longer one begins with its first line.
  const Nanoseconds begin = trace.rows_.front().at;
  for (TraceRow& row : trace.rows_) row.at -= begin;
  return trace;
}

LoadTrace LoadTrace::held(Nanoseconds last, Nanoseconds length) const {
  LoadTrace longer = *this;
  const Nanoseconds end = rows_.back().at;
  const auto again =
      std::ranges::find_if(rows_, [&](const TraceRow& row) { return row.at > end - last; });
  // One step more than the part is long, so that two of its rows never meet.
  const Nanoseconds step =
      std::max(Nanoseconds(Milliseconds(200)), end - again->at + Milliseconds(200));
  for (Nanoseconds by = step; end + by <= length; by += step) {
    for (auto row = again; row != rows_.end(); ++row) {
      longer.rows_.push_back(*row);
      longer.rows_.back().at += by;
    }
  }
  return longer;
}

std::vector<GpuInfo> LoadTrace::inventory() const {
  std::vector<GpuInfo> all;
  all.reserve(gpus_);
  for (std::uint32_t n = 0; n < gpus_; ++n) {
    GpuInfo info;
    info.index = n;
    info.pci = {.domain = 0, .bus = static_cast<std::uint8_t>(n + 1), .device = 0, .function = 0};
    info.uuid = fmt::format("GPU-trace-{}", n);
    info.name = "GPU of a load trace";
    info.gpm = true;
    all.push_back(std::move(info));
  }
  return all;
}

void LoadTrace::tell(const TraceRow& row, MonotonicTime now, Listener& listener) {
  const PciAddress pci{
      .domain = 0, .bus = static_cast<std::uint8_t>(row.gpu + 1), .device = 0, .function = 0};
  std::vector<TargetReading> readings;
  readings.reserve(row.readings.size());
  for (const auto& [field, number] : row.readings) {
    readings.push_back({.target = {}, .field = field, .reading = Reading::of(number, now)});
  }
  listener.on_readings(pci, readings);
  std::vector<ProcessInfo> processes;
  processes.reserve(row.processes);
  for (std::uint32_t n = 0; n < row.processes; ++n) {
    processes.push_back({.pid = trace_pid(row.gpu, n), .compute = true});
  }
  listener.on_processes(pci, Reading::of(static_cast<std::int64_t>(row.processes), now), processes);
}

}  // namespace stoker::device::record
