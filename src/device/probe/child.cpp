#include "device/probe/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <thread>
#include <utility>

#include "base/allocator.h"
#include "base/log.h"
#include "device/probe/outbox.h"
#include "device/probe/packet.h"
#include "device/probe/protocol.h"
#include "device/probe/turns.h"

namespace stoker::device::probe {
namespace {

// The driver's word for it that an Xid wakes the wait; the field last_xid grows old without one.
constexpr Milliseconds xid_wait{10'000};
// While GPUs are being opened, so that a driver which takes no registration during a wait, or shows it
// only to the next one, has them all soon.
constexpr Milliseconds xid_wait_while_opening{500};
constexpr Milliseconds leave_look{5};
// A GPU whose calls take longer keeps the others waiting no further, and what those told goes after as long.
constexpr Milliseconds turn_patience{20};

// One GPU from the moment that its thread begins to open it. What is not constant but the slot is
// guarded by Shared::mutex.
struct GpuThread {
  explicit GpuThread(const nvml::GpuPlace& its_place) : place(its_place), pci(its_place.pci) {}

  const nvml::GpuPlace place;
  CallSlot slot;
  std::optional<PciAddress> pci;
  enum class State { opening, open, refused } state = State::opening;
};

// Everything that the threads share. Lives until _exit: never destroyed.
struct Shared {
  Shared(int fd, const ChildParts& child_parts) : parts(child_parts), outbox(fd) {}

  const ChildParts& parts;
  const Clock& clock = system_clock();
  Configure configure;  // constant once the threads run
  Outbox outbox;
  CallSlot init_slot;
  CallSlot xid_slot;
  Turns turns{clock};
  std::atomic<bool> leaving{false};
  std::unique_ptr<nvml::Driver> driver;  // of the init thread

  Mutex mutex;
  CondVar wake;
  std::vector<std::unique_ptr<GpuThread>> gpus GUARDED_BY(mutex);
  Inventory inventory GUARDED_BY(mutex);  // but for `opening`, which `gpus` know
  bool listed GUARDED_BY(mutex) = false;  // the first inventory was told
  std::vector<std::thread> threads;       // of the init thread

  void send(const Message& message, Outbox::Urgency urgency) {
    outbox.send(encode(message), urgency);
  }
  [[nodiscard]] bool opening() const REQUIRES(mutex) {
    return std::ranges::any_of(
        gpus, [](const auto& gpu) { return gpu->state == GpuThread::State::opening; });
  }
};

void name_thread(const std::string& name) { pthread_setname_np(pthread_self(), name.c_str()); }

// Sleeps until `due`; false when the probe is leaving.
bool sleep_until(Shared& shared, MonotonicTime due) {
  const std::chrono::steady_clock::time_point until(due.since_boot);
  shared.mutex.lock();
  while (!shared.leaving && shared.clock.monotonic() < due) {
    shared.wake.wait_until(shared.mutex, until);
  }
  shared.mutex.unlock();
  return !shared.leaving;
}

// Under the lock, so that an earlier inventory never overtakes a later one.
void tell_inventory(Shared& shared) {
  const MutexLock lock(shared.mutex);
  Inventory inventory = shared.inventory;
  for (const auto& gpu : shared.gpus) {
    if (gpu->state == GpuThread::State::opening) {
      inventory.opening.push_back({gpu->place.index, gpu->pci});
    }
  }
  shared.send(inventory, Outbox::Urgency::now);
  shared.listed = true;
  shared.wake.notify_all();
}

void tell_new_info(Shared& shared, const GpuInfo& info) {
  shared.mutex.lock();
  for (GpuInfo& gpu : shared.inventory.gpus) {
    if (gpu.pci == info.pci) gpu = info;
  }
  shared.mutex.unlock();
  tell_inventory(shared);
}

void tell_readings(Shared& shared, const PciAddress& pci, std::span<const TargetReading> readings) {
  while (!readings.empty()) {
    const std::size_t count = std::min(max_readings_per_message, readings.size());
    shared.outbox.send(encode_readings(pci, readings.first(count)), Outbox::Urgency::soon);
    readings = readings.subspan(count);
  }
}

void tell_round(Shared& shared, const Gpu& gpu, Round& round) {
  const PciAddress pci = gpu.info().pci;
  // The inventory goes first: readings of a new MIG instance need it.
  if (round.info_changed) tell_new_info(shared, gpu.info());
  tell_readings(shared, pci, round.readings);
  if (round.process_outcome) {
    if (round.processes.size() > max_processes_per_message) {
      round.processes.resize(max_processes_per_message);
    }
    shared.send(Processes{pci, *round.process_outcome, round.processes}, Outbox::Urgency::soon);
  }
  if (!round.costs.empty()) shared.send(Costs{pci, round.costs}, Outbox::Urgency::soon);
}

void sample(Shared& shared, Seat& seat) {
  seat.round.clear();
  seat.sampler.round(seat.round);
  tell_round(shared, seat.gpu, seat.round);
}

void sample_gpus(Shared& shared, std::unique_ptr<Seat> own) {
  sample(shared, *own);
  shared.outbox.flush();  // the first round waits for nobody
  shared.turns.add(std::move(own));
  while (Seat* seat = shared.turns.take()) {
    sample(shared, *seat);
    shared.turns.give_back(*seat);
  }
}

bool is_opening(Shared& shared) {
  const MutexLock lock(shared.mutex);
  return shared.opening();
}

void wait_for_xids(Shared& shared) {
  name_thread("xids");
  bool waited = false;  // last_xid is told once somebody has waited
  while (!shared.leaving) {
    const bool opening = is_opening(shared);
    const Milliseconds longest = opening ? xid_wait_while_opening : xid_wait;
    shared.xid_slot.enter(Getter::xid_event, shared.clock.monotonic());
    const auto event =
        shared.driver->wait_xid_event(std::exchange(waited, true) ? longest : Milliseconds(0));
    shared.xid_slot.leave();
    if (!event) {
      if (event.error().code() == ErrorCode::not_supported && !opening) return;
      if (!sleep_until(shared, shared.clock.monotonic() + longest)) return;
    } else if (*event) {
      shared.send(Xid{(*event)->gpu, static_cast<std::uint32_t>((*event)->xid), (*event)->at},
                  Outbox::Urgency::now);
    }
  }
}

nvml::DriverOptions driver_options(const Configure& configure) {
  nvml::DriverOptions options;
  options.library = configure.library;
  options.no_attach = configure.scope.no_attach;
  if (configure.scope.only) options.only = *configure.scope.only;
  return options;
}

bool opens_nothing(const Scope& scope) { return scope.only && scope.only->empty(); }

// Opens one GPU in its own thread, since opening may not return. Null where that fails.
std::unique_ptr<Gpu> open_gpu(Shared& shared, GpuThread& thread) {
  auto opened = [&] {
    const InCall call(thread.slot, Getter::count_, shared.clock.monotonic());
    return shared.driver->open_gpu(thread.place);
  }();
  const MutexLock lock(shared.mutex);
  shared.wake.notify_all();
  if (!opened) {
    nvml::UnopenedGpu& none = opened.error();
    thread.state = GpuThread::State::refused;
    shared.inventory.unopened.push_back({none.pci, none.index, none.reason, std::move(none.text)});
    return nullptr;
  }
  const GpuInfo& info = (*opened)->info();
  thread.state = GpuThread::State::open;
  thread.pci = info.pci;
  auto& gpus = shared.inventory.gpus;
  gpus.insert(std::ranges::upper_bound(gpus, info.index, {}, &GpuInfo::index), info);
  return std::move(*opened);
}

// Those that open in time are in the first inventory; each later one is told in a new one.
void announce(Shared& shared) {
  shared.mutex.lock();
  const bool late = shared.listed;
  while (!shared.listed) shared.wake.wait(shared.mutex);
  shared.mutex.unlock();
  if (late) tell_inventory(shared);
}

// The sampler and the GPU live until _exit.
void run_gpu(Shared& shared, GpuThread& thread) {
  name_thread(fmt::format("gpu-{}", thread.place.index));
  Gpu* gpu = open_gpu(shared, thread).release();
  announce(shared);
  if (gpu == nullptr) return;
  Sampler* sampler =
      shared.parts.make_sampler({*gpu, shared.configure.rates, thread.slot}).release();
  sample_gpus(shared, std::make_unique<Seat>(Seat{.gpu = *gpu, .sampler = *sampler, .round = {}}));
}

void start_gpus(Shared& shared, const std::vector<nvml::GpuPlace>& places) {
  for (const nvml::GpuPlace& place : places) {
    shared.mutex.lock();
    GpuThread* thread = shared.gpus.emplace_back(std::make_unique<GpuThread>(place)).get();
    shared.mutex.unlock();
    shared.threads.emplace_back([&shared, thread] { run_gpu(shared, *thread); });
  }
}

// A GPU that takes longer than two heartbeats to open keeps nobody waiting.
void wait_for_gpus(Shared& shared) {
  const MonotonicTime until = shared.clock.monotonic() + shared.configure.heartbeat * 2;
  shared.mutex.lock();
  while (shared.opening() && shared.clock.monotonic() < until) {
    shared.wake.wait_until(shared.mutex, std::chrono::steady_clock::time_point(until.since_boot));
  }
  shared.mutex.unlock();
}

// Which GPUs are there; nothing where the driver did not start, which is told then.
std::optional<std::vector<nvml::GpuPlace>> open_driver(Shared& shared) {
  const InCall call(shared.init_slot, Getter::count_, shared.clock.monotonic());
  auto driver = shared.parts.open_driver(driver_options(shared.configure));
  if (!driver) {
    shared.send(InitResult{driver.error().state, driver.error().text}, Outbox::Urgency::now);
    return std::nullopt;
  }
  shared.driver = std::move(*driver);
  shared.send(DriverTold{shared.driver->info()}, Outbox::Urgency::now);
  if (opens_nothing(shared.configure.scope)) return std::vector<nvml::GpuPlace>();
  auto places = shared.driver->places();
  if (places) return std::move(*places);
  nvml::UnopenedGpu& none = places.error();
  const MutexLock lock(shared.mutex);
  shared.inventory.unopened.push_back({none.pci, none.index, none.reason, std::move(none.text)});
  return std::vector<nvml::GpuPlace>();
}

void start_driver(Shared& shared) {
  name_thread("driver");
  const auto places = open_driver(shared);
  if (!places) return;
  start_gpus(shared, *places);
  wait_for_gpus(shared);
  shared.send(InitResult{SourceState::running, ""}, Outbox::Urgency::now);
  tell_inventory(shared);
  wait_for_xids(shared);
}

Heartbeat heartbeat(Shared& shared) {
  Heartbeat beat;
  beat.at = shared.clock.monotonic();
  beat.dropped = shared.outbox.dropped();
  if (const auto call = shared.init_slot.now()) {
    beat.threads.push_back({ThreadState::Kind::init, {}, 0, call->getter, call->since});
  }
  if (const auto call = shared.xid_slot.now()) {
    beat.threads.push_back({ThreadState::Kind::events, {}, 0, call->getter, call->since});
  }
  const MutexLock lock(shared.mutex);
  for (const auto& gpu : shared.gpus) {
    if (gpu->state == GpuThread::State::refused) continue;
    ThreadState state;
    state.kind = gpu->pci ? ThreadState::Kind::gpu : ThreadState::Kind::opening;
    state.gpu = gpu->pci.value_or(PciAddress{});
    state.index = gpu->place.index;
    if (const auto call = gpu->slot.now()) {
      state.getter = call->getter;
      state.since = call->since;
    }
    beat.threads.push_back(state);
  }
  return beat;
}

// The wait for Xids may be cut off at any time. Every other call is let come back: _exit kills its
// thread, and before leave_after the driver may still be waiting for the card's firmware.
bool may_exit(Shared& shared) {
  const auto is_young = [&shared](const CallSlot& slot) {
    const auto call = slot.now();
    return call && shared.clock.monotonic() - call->since < shared.configure.leave_after;
  };
  if (is_young(shared.init_slot)) return false;
  const MutexLock lock(shared.mutex);
  return std::ranges::none_of(shared.gpus, [&](const auto& gpu) { return is_young(gpu->slot); });
}

[[noreturn]] void leave(Shared& shared) {
  shared.mutex.lock();
  shared.leaving = true;
  shared.mutex.unlock();
  shared.wake.notify_all();
  shared.turns.stop();
  // The agent goes on to be told which calls are under way: nobody is to be killed in a young one.
  MonotonicTime beat_at = shared.clock.monotonic();
  while (!may_exit(shared)) {
    if (shared.clock.monotonic() >= beat_at) {
      beat_at = shared.clock.monotonic() + shared.configure.heartbeat;
      shared.send(heartbeat(shared), Outbox::Urgency::now);
    }
    std::this_thread::sleep_for(leave_look);
  }
  _exit(0);
}

// Waits for the agent's Configure. Anything else is no probe's socket.
Configure wait_for_configure(int fd) {
  auto packet = receive_packet(fd, Wait::yes);
  if (packet && packet->empty()) _exit(0);  // the agent went away
  auto message = packet ? decode(*packet) : Result<Message>(fail(packet.error()));
  auto* configure = message ? std::get_if<Configure>(&*message) : nullptr;
  if (configure == nullptr) {
    log::error("probe_not_configured", {{"reason", message ? "the first message is not Configure"
                                                           : message.error().describe()}});
    _exit(2);
  }
  return std::move(*configure);
}

// True when the agent says so, is gone, or speaks another language.
bool told_to_leave(int fd) {
  while (true) {
    auto packet = receive_packet(fd, Wait::no);
    if (!packet) return packet.error().code() != ErrorCode::timeout;
    if (packet->empty()) return true;
    const auto message = decode(*packet);
    if (!message || std::holds_alternative<Leave>(*message)) return true;
  }
}

// When the control thread has something to say next: when the rounds that begin at the next tick are
// over (sample/schedule.h), so that the agent wakes once for all that a tick brings.
MonotonicTime next_telling(const Configure& configure, MonotonicTime now) {
  const Nanoseconds every = std::min(configure.heartbeat, tick_of(configure.rates));
  const Nanoseconds behind = std::min(all_rounds, every / 2);
  return {(now.since_boot - behind) / every * every + every + behind};
}

[[noreturn]] void control(Shared& shared, int fd) {
  MonotonicTime beat_at = shared.clock.monotonic();
  MonotonicTime tell_at = beat_at;
  while (true) {
    const MonotonicTime now = shared.clock.monotonic();
    if (now >= tell_at) {
      if (now >= beat_at) {
        shared.send(heartbeat(shared), Outbox::Urgency::soon);
        beat_at = now + (shared.configure.heartbeat - all_rounds / 2);
      }
      shared.outbox.flush();
      tell_at = shared.turns.hurry() ? now + turn_patience : next_telling(shared.configure, now);
    }
    pollfd watched{fd, POLLIN, 0};
    const auto wait = std::chrono::ceil<Milliseconds>(tell_at - now);
    poll(&watched, 1, static_cast<int>(wait.count()));
    if (watched.revents != 0 && told_to_leave(fd)) leave(shared);
  }
}

// The probe holds nothing of the agent's; it hears of the agent's end by its socket, and then leaves
// as if asked. A few arenas instead of one a thread: eight threads would hold 8 x 64 MiB of address
// space.
void settle_in(int fd) {
  name_thread("stoker-probe");
  close_range(static_cast<unsigned>(fd) + 1, ~0U, 0);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  settle_allocator();
  mallopt(M_ARENA_MAX, 2);
}

}  // namespace

void Round::clear() {
  readings.clear();
  process_outcome.reset();
  processes.clear();
  costs.clear();
  info_changed = false;
}

void run_child(int fd, const ChildParts& parts) {
  settle_in(fd);
  // Never deleted: threads may use it until the process is gone.
  auto* shared = new Shared(fd, parts);
  shared->send(Hello{static_cast<std::uint32_t>(getpid())}, Outbox::Urgency::now);
  shared->configure = wait_for_configure(fd);
  new std::thread([shared] { start_driver(*shared); });
  control(*shared, fd);
}

}  // namespace stoker::device::probe
