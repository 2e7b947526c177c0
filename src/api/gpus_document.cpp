// Edge: /api/v1/gpus.
#include <fmt/format.h>

#include "api/documents.h"
#include "api/owner_members.h"
#include "base/duration.h"

namespace stoker::api {
namespace {

using device::GpuInfo;
using store::GpuSnapshot;
using store::ReadingSet;

// 0 means that the driver did not tell.
template <typename T>
void limit(JsonWriter& json, const std::string& key, T value, Reason missing) {
  if (value == T{}) return write_missing(json, key, missing);
  json.member(key, value);
}

// A GPU that could never be opened is known by its PCI address alone.
bool was_opened(const GpuSnapshot& gpu) { return !gpu.info.uuid.empty(); }

// Why what identifies a GPU is not known: the driver has no such thing, or was never asked.
Reason why_unknown(const GpuSnapshot& gpu) {
  if (was_opened(gpu)) return Reason::not_supported;
  switch (gpu.state) {
    case device::GpuState::lost: return Reason::lost;
    case device::GpuState::hung: return Reason::hung;
    case device::GpuState::present: break;
  }
  return Reason::pending;
}

void write_number(JsonWriter& json, const GpuSnapshot& gpu, const std::string& key,
                  std::uint32_t number) {
  if (!was_opened(gpu)) return write_missing(json, key, why_unknown(gpu));
  json.member(key, number);
}

void write_identity(JsonWriter& json, const GpuSnapshot& gpu) {
  const GpuInfo& info = gpu.info;
  const Reason missing = why_unknown(gpu);
  write_number(json, gpu, "index", info.index);
  member_or_missing(json, "uuid", info.uuid, missing);
  json.member("pci", info.pci.sysfs());
  member_or_missing(json, "name", info.name, missing);
  member_or_missing(json, "serial", info.serial, missing);
  member_or_missing(json, "brand", info.brand, missing);
  member_or_missing(json, "architecture", info.architecture, missing);
  if (info.compute_capability > 0) {
    json.member("compute_capability",
                fmt::format("{}.{}", info.compute_capability / 10, info.compute_capability % 10));
  } else {
    write_missing(json, "compute_capability", missing);
  }
  member_or_missing(json, "vbios", info.vbios, missing);
  member_or_missing(json, "board_part", info.board_part, missing);
  member_or_missing(json, "inforom", info.inforom, missing);
  write_number(json, gpu, "minor", info.minor);
  if (info.numa_node >= 0) {
    json.member("numa_node", info.numa_node);
  } else {
    write_missing(json, "numa_node", missing);
  }
  limit(json, "cores", info.cores, missing);
}

void write_limits(JsonWriter& json, const GpuSnapshot& gpu) {
  const GpuInfo& info = gpu.info;
  const Reason missing = why_unknown(gpu);
  json.key("limits").begin_object();
  limit(json, "slowdown_celsius", info.slowdown_celsius, missing);
  limit(json, "shutdown_celsius", info.shutdown_celsius, missing);
  limit(json, "max_memory_celsius", info.max_memory_celsius, missing);
  limit(json, "max_operating_celsius", info.max_operating_celsius, missing);
  limit(json, "power_limit_min_watts", info.power_limit_min_watts, missing);
  limit(json, "power_limit_max_watts", info.power_limit_max_watts, missing);
  limit(json, "power_limit_default_watts", info.power_limit_default_watts, missing);
  limit(json, "max_sm_clock_mhz", info.max_sm_clock_mhz, missing);
  limit(json, "max_memory_clock_mhz", info.max_memory_clock_mhz, missing);
  limit(json, "max_pcie_generation", info.max_pcie_generation, missing);
  limit(json, "max_pcie_width", info.max_pcie_width, missing);
  json.end_object();
}

void write_readings(JsonWriter& json, const ReadingSet& readings, EntityKind kind) {
  for (const Field& field : all_fields()) {
    if (field.entity == kind) write_reading(json, field.key(), readings.get(field.id));
  }
}

void write_migs(JsonWriter& json, const GpuSnapshot& gpu, const store::Snapshot& snapshot) {
  json.key("mig_devices").begin_array();
  for (std::size_t i = 0; i < gpu.info.migs.size(); ++i) {
    const auto& mig = gpu.info.migs[i];
    json.begin_object().member("uuid", mig.uuid).member("profile", mig.profile);
    json.member("gpu_instance", mig.gpu_instance).member("compute_instance", mig.compute_instance);
    json.member("memory_bytes", mig.memory_bytes);
    json.member("multiprocessors", mig.multiprocessors);
    write_holders(json, snapshot, mig.uuid);
    if (const auto found = gpu.migs.find(static_cast<std::uint32_t>(i)); found != gpu.migs.end()) {
      // What is read for an instance is what the driver tells for it (catalog: gpu and mig rows).
      for (const auto& [id, reading] : found->second.all()) {
        write_reading(json, field(id).key(), reading);
      }
    }
    json.end_object();
  }
  json.end_array();
}

void write_nvlinks(JsonWriter& json, const GpuSnapshot& gpu) {
  json.key("nvlinks").begin_array();
  for (const auto& link : gpu.info.nvlinks) {
    json.begin_object().member("link", link.link);
    limit(json, "version", link.version, Reason::not_supported);
    member_or_missing(json, "remote_pci", link.remote_pci, Reason::not_supported);
    const auto found = gpu.nvlinks.find(link.link);
    write_readings(json, found == gpu.nvlinks.end() ? ReadingSet{} : found->second,
                   EntityKind::nvlink);
    json.end_object();
  }
  json.end_array();
}

void write_instance(JsonWriter& json, const std::string& key, std::uint32_t instance) {
  if (instance != device::no_instance) {
    json.member(key, instance);
  } else {
    json.inapplicable(key);
  }
}

void write_processes(JsonWriter& json, const GpuSnapshot& gpu, const store::Snapshot& snapshot) {
  if (!gpu.process_outcome.ok()) {
    return write_missing(json, "processes", gpu.process_outcome.reason);
  }
  json.key("processes").begin_array();
  for (const auto& process : gpu.processes) {
    json.begin_object().member("pid", process.pid);
    member_or_missing(json, "name", process.name, Reason::no_source);
    json.member("kind", process.compute ? "compute" : "graphics");
    if (process.memory_known) {
      json.member("memory_bytes", process.memory_bytes);
    } else {
      write_missing(json, "memory_bytes", Reason::not_supported);
    }
    write_instance(json, "gpu_instance", process.gpu_instance);
    write_instance(json, "compute_instance", process.compute_instance);
    write_owner(json, snapshot, process.pid);
    json.end_object();
  }
  json.end_array();
}

// While nothing is told about this node's GPUs, a card's state is as unknown as its readings.
void write_state(JsonWriter& json, const GpuSnapshot& gpu, const store::Snapshot& snapshot) {
  const std::string_view state = store::state_of(gpu, snapshot);
  const bool known = state == device::to_string(gpu.state);
  json.member("state", state)
      .member_or_null("state_detail",
                      known ? gpu.state_detail : device::to_string(snapshot.source.state));
}

void write_gpu(JsonWriter& json, const GpuSnapshot& gpu, const store::Snapshot& snapshot) {
  const MonotonicTime now = snapshot.taken_at;
  json.begin_object();
  write_identity(json, gpu);
  write_state(json, gpu, snapshot);
  json.member("state_age_seconds", in_seconds(now - gpu.state_since));
  if (gpu.last_answer) {
    json.member("last_answer_age_seconds", in_seconds(now - *gpu.last_answer));
  } else {
    write_missing(json, "last_answer_age_seconds", Reason::pending);
  }
  write_readings(json, gpu.readings, EntityKind::gpu);
  write_limits(json, gpu);
  json.member("mig_enabled", gpu.info.mig_enabled);
  write_holders(json, snapshot, gpu.info.uuid);
  write_migs(json, gpu, snapshot);
  write_nvlinks(json, gpu);
  write_processes(json, gpu, snapshot);
  json.key("xids").begin_array();
  for (const auto& [xid, seen] : gpu.xids) {
    json.begin_object().member("xid", xid).member("count", seen.count).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

void write_time(JsonWriter& json, std::string_view key, const std::optional<WallTime>& time) {
  json.member_or_null(key, time ? format_utc(*time) : std::string());
}

void write_missing(JsonWriter& json, const std::string& key, Reason reason) {
  json.key(key).null().member(key + "_reason", to_string(reason));
}

void member_or_missing(JsonWriter& json, const std::string& key, const std::string& text,
                       Reason reason) {
  if (text.empty()) return write_missing(json, key, reason);
  json.member(key, text);
}

void write_reading(JsonWriter& json, const std::string& key, const Reading& reading) {
  if (!reading.ok()) return write_missing(json, key, reading.reason);
  json.key(key);
  if (const auto* whole = std::get_if<std::int64_t>(&reading.value)) {
    json.value(*whole);
  } else {
    json.value(std::get<double>(reading.value));
  }
}

std::string gpus_document(const store::Snapshot& snapshot,
                          const std::vector<const GpuSnapshot*>& gpus) {
  JsonWriter json;
  json.begin_object()
      .member("schema", "stoker.dev/v1/gpu")
      .member("time", format_utc(snapshot.wall));
  write_simulated(json, snapshot);
  json.key("gpus").begin_array();
  for (const GpuSnapshot* gpu : gpus) write_gpu(json, *gpu, snapshot);
  json.end_array().end_object();
  return json.text();
}

}  // namespace stoker::api
