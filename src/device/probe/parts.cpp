#include "device/probe/parts.h"

#include <cmath>

namespace stoker::device::probe {
namespace {

// Each struct names its members once, in the order on the wire; the two archives below write and
// read them. So the two directions can't drift apart.
struct Printing {
  Writer& out;
  template <PlainNumber T>
  void operator()(const T& value) const {
    out.number(value);
  }
  void operator()(const bool& value) const { out.flag(value); }
  void operator()(const std::string& value) const { out.text(value); }
  void operator()(const PciAddress& value) const { out.address(value); }
  void operator()(const LinkEnd& value) const { out.word(value); }
};

struct Parsing {
  Reader& in;
  template <PlainNumber T>
  void operator()(T& value) const {
    value = in.number<T>();
  }
  void operator()(bool& value) const { value = in.flag(); }
  void operator()(std::string& value) const { value = in.text(); }
  void operator()(PciAddress& value) const { value = in.address(); }
  void operator()(LinkEnd& value) const { value = in.word(LinkEnd::other); }
};

template <typename Archive, typename Driver>
void driver_members(const Archive& member, Driver& driver) {
  member(driver.driver_version);
  member(driver.nvml_version);
  member(driver.cuda_version);
  member(driver.simulated);
}

template <typename Archive, typename Mig>
void mig_members(const Archive& member, Mig& mig) {
  member(mig.uuid);
  member(mig.profile);
  member(mig.gpu_instance);
  member(mig.compute_instance);
  member(mig.memory_bytes);
  member(mig.multiprocessors);
}

template <typename Archive, typename Link>
void link_members(const Archive& member, Link& link) {
  member(link.link);
  member(link.version);
  member(link.remote_pci);
  member(link.remote);
}

template <typename Archive, typename Process>
void process_members(const Archive& member, Process& process) {
  member(process.pid);
  member(process.compute);
  member(process.memory_known);
  member(process.memory_bytes);
  member(process.gpu_instance);
  member(process.compute_instance);
  member(process.name);
}

template <typename Archive, typename Gpu>
void gpu_members(const Archive& member, Gpu& gpu) {
  member(gpu.index);
  member(gpu.pci);
  member(gpu.uuid);
  member(gpu.name);
  member(gpu.serial);
  member(gpu.brand);
  member(gpu.vbios);
  member(gpu.board_part);
  member(gpu.inforom);
  member(gpu.architecture);
  member(gpu.compute_capability);
  member(gpu.minor);
  member(gpu.numa_node);
  member(gpu.memory_node);
  member(gpu.cores);
  member(gpu.memory_bytes);
  member(gpu.slowdown_celsius);
  member(gpu.shutdown_celsius);
  member(gpu.max_memory_celsius);
  member(gpu.max_operating_celsius);
  member(gpu.power_limit_min_watts);
  member(gpu.power_limit_max_watts);
  member(gpu.power_limit_default_watts);
  member(gpu.max_sm_clock_mhz);
  member(gpu.max_memory_clock_mhz);
  member(gpu.max_pcie_generation);
  member(gpu.max_pcie_width);
  member(gpu.gpm);
  member(gpu.mig_enabled);
}

}  // namespace

void write_plain_reading(Writer& out, const Reading& reading) {
  out.word(reading.reason);
  const auto* whole = std::get_if<std::int64_t>(&reading.value);
  out.flag(whole != nullptr);
  if (whole != nullptr) {
    out.number(*whole);
  } else {
    out.number(std::get<double>(reading.value));
  }
  out.time(reading.taken_at);
  out.duration(reading.took);
}

Reading read_plain_reading(Reader& in) {
  Reading reading;
  reading.reason = in.word(Reason::failed);
  if (in.flag()) {
    reading.value = in.number<std::int64_t>();
  } else {
    reading.value = in.number<double>();
    // NaN and infinities are no values (model/reading.h); a reader that sends one is broken.
    if (!std::isfinite(std::get<double>(reading.value))) in.fail();
  }
  reading.taken_at = in.time();
  reading.took = in.duration();
  return reading;
}

void write_reading(Writer& out, const TargetReading& reading) {
  out.word(reading.target.kind);
  out.number(reading.target.number);
  out.word(reading.field);
  write_plain_reading(out, reading.reading);
}

TargetReading read_reading(Reader& in) {
  TargetReading reading;
  reading.target.kind = in.word(EntityKind::file);
  reading.target.number = in.number<std::uint32_t>();
  reading.field = in.word(static_cast<FieldId>(field_count - 1));
  reading.reading = read_plain_reading(in);
  return reading;
}

void write_process(Writer& out, const ProcessInfo& process) {
  process_members(Printing{out}, process);
}

ProcessInfo read_process(Reader& in) {
  ProcessInfo process;
  process_members(Parsing{in}, process);
  return process;
}

void write_cost(Writer& out, const CallCost& cost) {
  out.word(cost.getter);
  out.number(cost.calls);
  out.duration(cost.total);
  out.duration(cost.longest);
  out.duration(cost.last);
}

CallCost read_cost(Reader& in) {
  CallCost cost{};
  cost.getter = in.word(static_cast<Getter>(static_cast<int>(Getter::count_) - 1));
  cost.calls = in.number<std::uint64_t>();
  cost.total = in.duration();
  cost.longest = in.duration();
  cost.last = in.duration();
  return cost;
}

void write_driver(Writer& out, const DriverInfo& driver) {
  driver_members(Printing{out}, driver);
  out.count(driver.abi_notes.size());
  for (const std::string& note : driver.abi_notes) out.text(note);
}

DriverInfo read_driver(Reader& in) {
  DriverInfo driver;
  driver_members(Parsing{in}, driver);
  for (std::size_t left = in.count(2); left > 0 && in.ok(); --left) {
    driver.abi_notes.push_back(in.text());
  }
  return driver;
}

void write_gpu(Writer& out, const GpuInfo& gpu) {
  gpu_members(Printing{out}, gpu);
  out.count(gpu.migs.size());
  for (const MigInfo& mig : gpu.migs) mig_members(Printing{out}, mig);
  out.count(gpu.nvlinks.size());
  for (const NvLinkInfo& link : gpu.nvlinks) link_members(Printing{out}, link);
}

GpuInfo read_gpu(Reader& in) {
  GpuInfo gpu;
  gpu_members(Parsing{in}, gpu);
  for (std::size_t left = in.count(24); left > 0 && in.ok(); --left) {
    mig_members(Parsing{in}, gpu.migs.emplace_back());
  }
  for (std::size_t left = in.count(12); left > 0 && in.ok(); --left) {
    link_members(Parsing{in}, gpu.nvlinks.emplace_back());
  }
  return gpu;
}

}  // namespace stoker::device::probe
