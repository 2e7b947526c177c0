#include "device/probe/protocol.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "device/probe/parts.h"

namespace stoker::device::probe {
namespace {

constexpr std::uint32_t magic = 0x424f5053;  // "SPOB" in memory: Stoker probe

void write(Writer& out, const Scope& scope) {
  out.flag(scope.no_attach);
  out.flag(scope.only.has_value());
  if (!scope.only) return;
  out.count(scope.only->size());
  for (const PciAddress& pci : *scope.only) out.address(pci);
}

void read(Reader& in, Scope& scope) {
  scope.no_attach = in.flag();
  if (!in.flag()) return;
  scope.only.emplace();
  for (std::size_t left = in.count(7); left > 0; --left) scope.only->push_back(in.address());
}

// Periods and the scale come from the agent's own configuration; what can't be is refused all the
// same, since a period of zero would spin.
Nanoseconds read_period(Reader& in) {
  const Nanoseconds period = in.duration();
  if (period <= Nanoseconds{0}) in.fail();
  return period;
}

void write(Writer& out, const SampleRates& rates) {
  for (const Nanoseconds period : {rates.cheap, rates.gpm, rates.firmware, rates.dear, rates.rare,
                                   rates.processes, rates.refresh}) {
    out.duration(period);
  }
  out.number(rates.scale);
  out.flag(rates.demote);
}

void read(Reader& in, SampleRates& rates) {
  for (Nanoseconds* period : {&rates.cheap, &rates.gpm, &rates.firmware, &rates.dear, &rates.rare,
                              &rates.processes, &rates.refresh}) {
    *period = read_period(in);
  }
  rates.scale = in.number<double>();
  if (!(rates.scale > 0 && rates.scale <= 1000)) in.fail();
  rates.demote = in.flag();
}

void write(Writer& out, const Configure& message) {
  out.text(message.library);
  write(out, message.scope);
  write(out, message.rates);
  out.duration(message.heartbeat);
  out.duration(message.leave_after);
}

void read(Reader& in, Configure& message) {
  message.library = in.text();
  read(in, message.scope);
  read(in, message.rates);
  message.heartbeat = read_period(in);
  message.leave_after = read_period(in);
}

void write(Writer& /*out*/, const Leave& /*message*/) {}
void read(Reader& /*in*/, Leave& /*message*/) {}

void write(Writer& out, const Hello& message) { out.number(message.pid); }
void read(Reader& in, Hello& message) { message.pid = in.number<std::uint32_t>(); }

void write(Writer& out, const InitResult& message) {
  out.word(message.state);
  out.text(message.detail);
}

void read(Reader& in, InitResult& message) {
  message.state = in.word(SourceState::failed);
  message.detail = in.text();
}

void write(Writer& out, const DriverTold& message) { write_driver(out, message.info); }
void read(Reader& in, DriverTold& message) { message.info = read_driver(in); }

void write(Writer& out, const Unopened& gpu) {
  out.flag(gpu.pci.has_value());
  out.address(gpu.pci.value_or(PciAddress{}));
  out.number(gpu.index);
  out.word(gpu.reason);
  out.text(gpu.detail);
}

Unopened read_unopened(Reader& in) {
  Unopened gpu;
  const bool known = in.flag();
  const PciAddress pci = in.address();
  if (known) gpu.pci = pci;
  gpu.index = in.number<std::uint32_t>();
  gpu.reason = in.word(Reason::failed);
  gpu.detail = in.text();
  return gpu;
}

constexpr std::size_t min_opening_bytes = 8;

void write(Writer& out, const Opening& gpu) {
  out.flag(gpu.pci.has_value());
  out.address(gpu.pci.value_or(PciAddress{}));
  out.number(gpu.index);
}

Opening read_opening(Reader& in) {
  Opening gpu;
  const bool known = in.flag();
  const PciAddress pci = in.address();
  if (known) gpu.pci = pci;
  gpu.index = in.number<std::uint32_t>();
  return gpu;
}

void write(Writer& out, const Inventory& message) {
  out.count(message.gpus.size());
  for (const GpuInfo& gpu : message.gpus) write_gpu(out, gpu);
  out.count(message.unopened.size());
  for (const Unopened& gpu : message.unopened) write(out, gpu);
  out.count(message.opening.size());
  for (const Opening& gpu : message.opening) write(out, gpu);
}

void read(Reader& in, Inventory& message) {
  for (std::size_t left = in.count(min_gpu_bytes); left > 0 && in.ok(); --left) {
    message.gpus.push_back(read_gpu(in));
  }
  for (std::size_t left = in.count(16); left > 0 && in.ok(); --left) {
    message.unopened.push_back(read_unopened(in));
  }
  for (std::size_t left = in.count(min_opening_bytes); left > 0 && in.ok(); --left) {
    message.opening.push_back(read_opening(in));
  }
}

void write_readings(Writer& out, const PciAddress& gpu, std::span<const TargetReading> readings) {
  out.expect(readings.size() * typical_reading_bytes);
  out.address(gpu);
  out.count(readings.size());
  for (const TargetReading& reading : readings) write_reading(out, reading);
}

void write(Writer& out, const Readings& message) {
  write_readings(out, message.gpu, message.readings);
}

void read(Reader& in, Readings& message) {
  message.gpu = in.address();
  const std::size_t count = in.count(min_reading_bytes);
  message.readings.reserve(count);
  for (std::size_t left = count; left > 0 && in.ok(); --left) {
    message.readings.push_back(read_reading(in));
  }
}

void write(Writer& out, const Processes& message) {
  out.address(message.gpu);
  write_plain_reading(out, message.outcome);
  out.count(message.processes.size());
  for (const ProcessInfo& process : message.processes) write_process(out, process);
}

void read(Reader& in, Processes& message) {
  message.gpu = in.address();
  message.outcome = read_plain_reading(in);
  for (std::size_t left = in.count(min_process_bytes); left > 0 && in.ok(); --left) {
    message.processes.push_back(read_process(in));
  }
}

void write(Writer& out, const Costs& message) {
  out.address(message.gpu);
  out.count(message.costs.size());
  for (const CallCost& cost : message.costs) write_cost(out, cost);
}

void read(Reader& in, Costs& message) {
  message.gpu = in.address();
  for (std::size_t left = in.count(min_cost_bytes); left > 0 && in.ok(); --left) {
    message.costs.push_back(read_cost(in));
  }
}

void write(Writer& out, const Xid& message) {
  out.address(message.gpu);
  out.number(message.xid);
  out.time(message.at);
}

void read(Reader& in, Xid& message) {
  message.gpu = in.address();
  message.xid = in.number<std::uint32_t>();
  message.at = in.time();
}

void write(Writer& out, const ThreadState& thread) {
  out.word(thread.kind);
  out.address(thread.gpu);
  out.number(thread.index);
  out.word(thread.getter);
  out.flag(thread.since.has_value());
  out.time(thread.since.value_or(MonotonicTime{}));
}

ThreadState read_thread(Reader& in) {
  ThreadState thread;
  thread.kind = in.word(ThreadState::Kind::opening);
  thread.gpu = in.address();
  thread.index = in.number<std::uint32_t>();
  thread.getter = in.word(Getter::count_);
  const bool in_call = in.flag();
  const MonotonicTime since = in.time();
  if (in_call) thread.since = since;
  return thread;
}

void write(Writer& out, const Heartbeat& message) {
  out.time(message.at);
  out.number(message.dropped);
  out.count(message.threads.size());
  for (const ThreadState& thread : message.threads) write(out, thread);
}

void read(Reader& in, Heartbeat& message) {
  message.at = in.time();
  message.dropped = in.number<std::uint64_t>();
  for (std::size_t left = in.count(20); left > 0 && in.ok(); --left) {
    message.threads.push_back(read_thread(in));
  }
}

Writer begin_message(std::size_t kind) {
  Writer out;
  out.number(magic);
  out.number(protocol_version);
  out.number(static_cast<std::uint16_t>(kind));
  return out;
}

using ReadKind = Message (*)(Reader&);

template <typename Kind>
Message read_kind(Reader& in) {
  Kind message;
  read(in, message);
  return message;
}

// One reader for each alternative of Message, in its order.
template <std::size_t... index>
constexpr auto make_readers(std::index_sequence<index...> /*all*/) {
  return std::array<ReadKind, sizeof...(index)>{
      read_kind<std::variant_alternative_t<index, Message>>...};
}

constexpr auto readers = make_readers(std::make_index_sequence<std::variant_size_v<Message>>{});

}  // namespace

std::string encode_readings(const PciAddress& gpu, std::span<const TargetReading> readings) {
  Writer out = begin_message(Message(Readings{}).index());
  write_readings(out, gpu, readings);
  return out.take();
}

std::string encode(const Message& message) {
  Writer out = begin_message(message.index());
  std::visit([&out](const auto& kind) { write(out, kind); }, message);
  return out.take();
}

Result<Message> decode(std::string_view bytes) {
  Reader in(bytes);
  const auto mark = in.number<std::uint32_t>();
  const auto version = in.number<std::uint16_t>();
  const auto kind = in.number<std::uint16_t>();
  if (!in.ok() || mark != magic) {
    return fail(ErrorCode::invalid_input, "this is no message of a Stoker probe");
  }
  if (version != protocol_version) {
    return fail(ErrorCode::invalid_input,
                fmt::format("the other side speaks version {} of the probe protocol, this one {}: "
                            "restart the agent, so that both come from one build",
                            version, protocol_version));
  }
  if (kind >= readers.size()) {
    return fail(ErrorCode::corrupt, fmt::format("message of unknown kind {}", kind));
  }
  Message message = readers[kind](in);
  if (!in.done()) {
    return fail(ErrorCode::corrupt,
                fmt::format("a message of kind {} and {} bytes does not hold together", kind,
                            bytes.size()));
  }
  return message;
}

}  // namespace stoker::device::probe
