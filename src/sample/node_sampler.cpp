#include "sample/node_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "base/sleep.h"

namespace stoker::sample {
namespace {

// The next number of `text`, with blanks before it taken away; nullopt if there is none.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return value;
}

// The number of a line "Name:   123 kB" of /proc/meminfo, in bytes.
std::optional<std::int64_t> meminfo_bytes(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    line.remove_prefix(name.size() + 1);
    const auto kib = take_number(line);
    if (!kib || *kib > std::uint64_t{1} << 50) return std::nullopt;
    return static_cast<std::int64_t>(*kib * 1024);
  }
  return std::nullopt;
}

Reason reason_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::no_permission: return Reason::no_permission;
    case ErrorCode::not_found: return Reason::no_source;
    default: return Reason::failed;
  }
}

}  // namespace

Result<std::string_view> KeptFile::read(const os::Env& env) {
  constexpr std::size_t most = 64 * 1024;
  if (!file_.valid()) {
    auto opened = env.open(path_);
    if (!opened) return fail(opened.error());
    file_ = std::move(*opened);
    text_.resize(most);
  }
  std::size_t size = 0;
  while (size < most) {
    const ssize_t got =
        pread(file_.get(), text_.data() + size, most - size, static_cast<off_t>(size));
    if (got < 0) {
      const int number = errno;
      file_.reset();
      return fail(Error::from_errno(number, "read " + path_));
    }
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return std::string_view(text_).substr(0, size);
}

NodeSamplerOptions node_periods(const device::probe::SampleRates& rates) {
  const auto at_scale = [&rates](Nanoseconds period) {
    return std::max<Nanoseconds>(device::probe::scaled(period, rates.scale), Milliseconds(1));
  };
  NodeSamplerOptions options;
  options.period = at_scale(rates.cheap * 4);
  options.disk_period = at_scale(rates.firmware);
  return options;
}

NodeSampler::NodeSampler(std::shared_ptr<const os::Env> env, NodeSamplerOptions options, Tell tell)
    : env_keeper_(std::move(env)),
      env_(*env_keeper_),
      options_(std::move(options)),
      tell_(std::move(tell)) {
  const auto add = [this](FieldId total, FieldId second, DiskLook::Question question) {
    disks_.push_back(
        {total, second,
         question ? std::make_unique<DiskLook>(env_keeper_, std::move(question)) : nullptr});
  };
  const auto of = [](const std::string& folder) -> DiskLook::Question {
    if (folder.empty()) return nullptr;
    return [folder](const os::Env& asked) { return asked.own_filesystem(folder); };
  };
  add(FieldId::shm_total, FieldId::shm_used,
      [](const os::Env& asked) { return asked.filesystem("/dev/shm"); });
  add(FieldId::data_disk_total, FieldId::data_disk_free, of(options_.data_folder));
  add(FieldId::cache_disk_total, FieldId::cache_disk_free, of(options_.cache_folder));
}

NodeSampler::~NodeSampler() { stop(); }

void NodeSampler::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      round();
      // At multiples of the period since boot, when the rest of the agent is awake too.
      const Nanoseconds now = env_.clock().monotonic().since_boot;
      sleep_unless_stopped(stop, options_.period - now % options_.period);
    }
  });
}

void NodeSampler::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void NodeSampler::round() {
  NodeReadings readings;
  read_cpu(readings);
  read_memory(readings);
  const MonotonicTime now = env_.clock().monotonic();
  if (!disks_at_ || now - *disks_at_ >= options_.disk_period) {
    disks_at_ = now;
    read_disks(readings);
  }
  tell_disks(readings);
  tell_(readings, costs_);
}

void NodeSampler::account(Getter getter, Nanoseconds took) {
  auto cost = std::ranges::find(costs_, getter, &device::CallCost::getter);
  if (cost == costs_.end()) {
    costs_.push_back({.getter = getter});
    cost = costs_.end() - 1;
  }
  ++cost->calls;
  cost->total += took;
  cost->longest = std::max(cost->longest, took);
  cost->last = took;
}

// proc(5): "cpu user nice system idle iowait irq softirq steal guest guest_nice", in ticks. Guest
// time is part of user and nice already; what is stolen is time that this machine did not have.
Result<NodeSampler::CpuTimes> NodeSampler::parse_cpu_times(std::string_view stat) {
  constexpr std::string_view name = "cpu ";
  constexpr std::size_t idle = 3;
  constexpr std::size_t iowait = 4;
  constexpr std::size_t columns = 8;
  constexpr std::size_t columns_needed = 4;
  if (!stat.starts_with(name)) return fail(ErrorCode::corrupt, "/proc/stat has no line \"cpu\"");
  stat.remove_prefix(name.size());
  CpuTimes times;
  for (std::size_t column = 0; column < columns; ++column) {
    const auto ticks = take_number(stat);
    if (!ticks && column < columns_needed) {
      return fail(ErrorCode::corrupt, "the line \"cpu\" of /proc/stat is too short");
    }
    if (!ticks) break;
    times.all += *ticks;
    if (column != idle && column != iowait) times.busy += *ticks;
  }
  return times;
}

void NodeSampler::read_cpu(NodeReadings& out) {
  const MonotonicTime began = env_.clock().monotonic();
  const auto text = stat_.read(env_);
  const MonotonicTime at = env_.clock().monotonic();
  account(Getter::node_cpu, at - began);
  const auto times = text ? parse_cpu_times(*text) : Result<CpuTimes>(fail(text.error()));
  if (!times) {
    before_.reset();
    out.emplace_back(FieldId::cpu_busy, Reading::none(reason_of(times.error()), at, at - began));
    return;
  }
  // The kernel's sums may step back by a little (proc(5) on iowait); then this round tells nothing.
  const bool steady = before_ && times->all > before_->all && times->busy >= before_->busy;
  if (steady) {
    const auto busy = static_cast<double>(times->busy - before_->busy);
    const auto all = static_cast<double>(times->all - before_->all);
    out.emplace_back(FieldId::cpu_busy,
                     Reading::of(std::min(100.0 * busy / all, 100.0), at, at - began));
  }
  before_ = *times;
}

void NodeSampler::read_memory(NodeReadings& out) {
  const MonotonicTime began = env_.clock().monotonic();
  const auto text = meminfo_.read(env_);
  const MonotonicTime at = env_.clock().monotonic();
  account(Getter::node_memory, at - began);
  constexpr std::array<std::pair<FieldId, std::string_view>, 2> rows = {{
      {FieldId::memory_total_host, "MemTotal"},
      {FieldId::memory_available, "MemAvailable"},
  }};
  for (const auto& [field, name] : rows) {
    const auto bytes = text ? meminfo_bytes(*text, name) : std::nullopt;
    const Reason why = text ? Reason::failed : reason_of(text.error());
    out.emplace_back(
        field, bytes ? Reading::of(*bytes, at, at - began) : Reading::none(why, at, at - began));
  }
}

void NodeSampler::read_disks(NodeReadings& out) {
  for (Disk& disk : disks_) {
    if (disk.look != nullptr) {
      disk.look->ask();
      continue;
    }
    const MonotonicTime now = env_.clock().monotonic();
    out.emplace_back(disk.total, Reading::none(Reason::not_supported, now));
    out.emplace_back(disk.second, Reading::none(Reason::not_supported, now));
  }
}

// `second` is what is used for /dev/shm, and what is free for a disk: what each may run out of.
void NodeSampler::tell_disks(NodeReadings& out) {
  for (Disk& disk : disks_) {
    const auto answer = disk.look != nullptr ? disk.look->take(options_.disk_patience)
                                             : std::optional<DiskLook::Answer>();
    if (!answer) continue;
    const MonotonicTime at = answer->at;
    const Nanoseconds took = at - answer->asked_at;
    account(Getter::node_filesystem, took);
    if (!answer->use) {
      const Reading none = Reading::none(reason_of(answer->use.error()), at, took);
      out.emplace_back(disk.total, none);
      out.emplace_back(disk.second, none);
      continue;
    }
    const os::FilesystemUse& use = *answer->use;
    const std::uint64_t told = disk.second == FieldId::shm_used
                                   ? use.total_bytes - std::min(use.free_bytes, use.total_bytes)
                                   : use.free_bytes;
    out.emplace_back(disk.total, Reading::of(static_cast<std::int64_t>(use.total_bytes), at, took));
    out.emplace_back(disk.second, Reading::of(static_cast<std::int64_t>(told), at, took));
  }
}

}  // namespace stoker::sample
