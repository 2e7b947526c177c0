// Edge: /api/v1/gpus.
#include <fmt/format.h>

#include "api/documents.h"

namespace stoker::api {
namespace {

using device::GpuInfo;
using store::GpuSnapshot;
using store::ReadingSet;

double seconds(Nanoseconds duration) { return static_cast<double>(duration.count()) / 1e9; }

void member_or_missing(JsonWriter& json, const std::string& key, const std::string& text) {
  if (text.empty()) return write_missing(json, key, Reason::not_supported);
  json.member(key, text);
}

// 0 means that the driver did not tell.
template <typename T>
void limit(JsonWriter& json, const std::string& key, T value) {
  if (value == T{}) return write_missing(json, key, Reason::not_supported);
  json.member(key, value);
}

void write_identity(JsonWriter& json, const GpuInfo& info) {
  json.member("index", info.index);
  member_or_missing(json, "uuid", info.uuid);
  json.member("pci", info.pci.sysfs());
  member_or_missing(json, "name", info.name);
  member_or_missing(json, "serial", info.serial);
  member_or_missing(json, "brand", info.brand);
  member_or_missing(json, "architecture", info.architecture);
  if (info.compute_capability > 0) {
    json.member("compute_capability",
                fmt::format("{}.{}", info.compute_capability / 10, info.compute_capability % 10));
  } else {
    write_missing(json, "compute_capability", Reason::not_supported);
  }
  member_or_missing(json, "vbios", info.vbios);
  member_or_missing(json, "board_part", info.board_part);
  member_or_missing(json, "inforom", info.inforom);
  json.member("minor", info.minor);
  if (info.numa_node >= 0) {
    json.member("numa_node", info.numa_node);
  } else {
    write_missing(json, "numa_node", Reason::not_supported);
  }
  limit(json, "cores", info.cores);
}

void write_limits(JsonWriter& json, const GpuInfo& info) {
  json.key("limits").begin_object();
  limit(json, "slowdown_celsius", info.slowdown_celsius);
  limit(json, "shutdown_celsius", info.shutdown_celsius);
  limit(json, "max_memory_celsius", info.max_memory_celsius);
  limit(json, "max_operating_celsius", info.max_operating_celsius);
  limit(json, "power_limit_min_watts", info.power_limit_min_watts);
  limit(json, "power_limit_max_watts", info.power_limit_max_watts);
  limit(json, "power_limit_default_watts", info.power_limit_default_watts);
  limit(json, "max_sm_clock_mhz", info.max_sm_clock_mhz);
  limit(json, "max_memory_clock_mhz", info.max_memory_clock_mhz);
  limit(json, "max_pcie_generation", info.max_pcie_generation);
  limit(json, "max_pcie_width", info.max_pcie_width);
  json.end_object();
}

void write_readings(JsonWriter& json, const ReadingSet& readings, EntityKind kind) {
  for (const Field& field : all_fields()) {
    if (field.entity == kind) write_reading(json, field.key(), readings.get(field.id));
  }
}

void write_migs(JsonWriter& json, const GpuSnapshot& gpu) {
  json.key("mig_devices").begin_array();
  for (std::size_t i = 0; i < gpu.info.migs.size(); ++i) {
    const auto& mig = gpu.info.migs[i];
    json.begin_object().member("uuid", mig.uuid).member("profile", mig.profile);
    json.member("gpu_instance", mig.gpu_instance).member("compute_instance", mig.compute_instance);
    json.member("memory_bytes", mig.memory_bytes);
    json.member("multiprocessors", mig.multiprocessors);
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
    limit(json, "version", link.version);
    member_or_missing(json, "remote_pci", link.remote_pci);
    const auto found = gpu.nvlinks.find(link.link);
    write_readings(json, found == gpu.nvlinks.end() ? ReadingSet{} : found->second,
                   EntityKind::nvlink);
    json.end_object();
  }
  json.end_array();
}

void write_instance(JsonWriter& json, const std::string& key, std::uint32_t instance) {
  constexpr std::uint32_t none = 0xffffffff;  // nvml.h: no MIG instance
  if (instance != none) {
    json.member(key, instance);
  } else {
    json.key(key).null();
  }
}

void write_processes(JsonWriter& json, const GpuSnapshot& gpu) {
  if (!gpu.process_outcome.ok()) {
    return write_missing(json, "processes", gpu.process_outcome.reason);
  }
  json.key("processes").begin_array();
  for (const auto& process : gpu.processes) {
    json.begin_object().member("pid", process.pid).member_or_null("name", process.name);
    json.member("kind", process.compute ? "compute" : "graphics");
    if (process.memory_known) {
      json.member("memory_bytes", process.memory_bytes);
    } else {
      write_missing(json, "memory_bytes", Reason::not_supported);
    }
    write_instance(json, "gpu_instance", process.gpu_instance);
    write_instance(json, "compute_instance", process.compute_instance);
    json.end_object();
  }
  json.end_array();
}

void write_gpu(JsonWriter& json, const GpuSnapshot& gpu, MonotonicTime now) {
  json.begin_object();
  write_identity(json, gpu.info);
  json.member("state", device::to_string(gpu.state))
      .member_or_null("state_detail", gpu.state_detail);
  json.member("state_age_seconds", seconds(now - gpu.state_since));
  if (gpu.last_answer) {
    json.member("last_answer_age_seconds", seconds(now - *gpu.last_answer));
  } else {
    write_missing(json, "last_answer_age_seconds", Reason::pending);
  }
  write_readings(json, gpu.readings, EntityKind::gpu);
  write_limits(json, gpu.info);
  json.member("mig_enabled", gpu.info.mig_enabled);
  write_migs(json, gpu);
  write_nvlinks(json, gpu);
  write_processes(json, gpu);
  json.key("xids").begin_array();
  for (const auto& [xid, count] : gpu.xid_counts) {
    json.begin_object().member("xid", xid).member("count", count).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

void write_missing(JsonWriter& json, const std::string& key, Reason reason) {
  json.key(key).null().member(key + "_reason", to_string(reason));
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
  json.member("simulated", snapshot.driver && snapshot.driver->simulated);
  json.key("gpus").begin_array();
  for (const GpuSnapshot* gpu : gpus) write_gpu(json, *gpu, snapshot.taken_at);
  json.end_array().end_object();
  return json.text();
}

}  // namespace stoker::api
