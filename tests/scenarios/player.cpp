#include "player.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "card.h"
#include "event/event_parser.h"
#include "expectations.h"
#include "health/checks.h"
#include "health/operand.h"
#include "incident/node_run.h"

namespace stoker::scenario {
namespace {

// A look a second after something has happened, as the agent has; then, while nothing does, in twice the time, up to a
// minute, and after an hour up to ten. What is read is fresh at each, so that a thousand hours are six thousand looks.
constexpr Seconds first_look{1};
constexpr Seconds slow_look{60};
constexpr Seconds slowest_look{600};
constexpr Seconds quiet_from{3600};
constexpr WallTime began{Seconds(1'700'000'000)};
// The node has been up for a week.
constexpr MonotonicTime up_since{Seconds(604'800)};

incident::NodeRunParts parts_of(const Scenario& scenario) {
  return {.monotonic = up_since,
          .wall = began,
          .store = {.hostname = "node-1"},
          .boot = scenario.boot,
          .checks = health::built_in_checks()};
}

class Player {
 public:
  Player(const Scenario& scenario, std::vector<device::GpuInfo> cards)
      : scenario_(scenario),
        run_(parts_of(scenario)),
        cards_(std::move(cards)),
        driver_(scenario.driver) {
    states_.assign(cards_.size(), device::GpuState::present);
    processes_.resize(cards_.size());
    be_sound();
  }

  std::vector<std::string> play() {
    read_old_lines();
    start();
    for (std::size_t n = old_lines_; n < scenario_.steps.size();) {
      pass_until(scenario_.steps[n].at);
      std::size_t end = n;
      while (end < scenario_.steps.size() && scenario_.steps[end].at == scenario_.steps[n].at) {
        std::visit(*this, scenario_.steps[end++].act);
      }
      look();
      for (; n < end; ++n) check(scenario_.steps[n]);
    }
    tell_unexpected();
    return std::move(wrong_);
  }

  void operator()(const Set& set);
  void operator()(const GpuTold& told);
  void operator()(const XidTold& told) {
    run_.heard().on_xid(card(told.gpu).pci, told.xid, run_.clock().monotonic());
  }
  void operator()(const Runs& runs);
  void operator()(const Line& line);
  void operator()(const SourceTold& told);
  void operator()(const DriverTold& told) {
    driver_ = told.version;
    tell_driver();
  }
  void operator()(const Restart& restart);
  void operator()(const ClockMoved& moved) {
    run_.set_wall({run_.clock().wall().since_epoch + moved.by});
  }
  void operator()(const Upkeep& upkeep) {
    if (upkeep.length == Nanoseconds{0}) return run_.end_maintenance();
    run_.begin_maintenance(upkeep.length, "somebody", "planned");
  }
  void operator()(const Asked& asked);
  // They are looked at when all has happened.
  void operator()(const ExpectFinding& /*expected*/) {}
  void operator()(const ExpectIncident& /*expected*/) {}
  void operator()(const ExpectCount& /*expected*/) {}
  void operator()(const ExpectVerdict& /*expected*/) {}

 private:
  [[nodiscard]] device::GpuInfo& card(int gpu) { return cards_.at(static_cast<std::size_t>(gpu)); }
  [[nodiscard]] MonotonicTime now() const { return run_.clock().monotonic(); }
  void be_sound();
  void read_old_lines();
  void start();
  void tell_driver();
  void tell_readings();
  void look();
  void pass_until(Nanoseconds at);
  void set_one(const Set& set, std::size_t gpu);
  void say(const Line& line, MonotonicTime at);
  void read_log_again();
  void check(const Step& step);
  void tell_unexpected();

  struct Said {
    MonotonicTime at;
    Event event;
  };
  using Part = std::pair<std::size_t, device::Target>;  // of which GPU, and what of it

  const Scenario& scenario_;
  incident::NodeRun run_;
  std::vector<device::GpuInfo> cards_;
  std::string driver_;
  device::SourceState source_ = device::SourceState::running;
  std::vector<device::GpuState> states_;
  std::vector<std::vector<device::ProcessInfo>> processes_;
  Attribution owners_;
  std::map<Part, std::map<FieldId, Reading>> values_;
  std::map<FieldId, Reading> node_values_;

  event::EventParser parser_;
  std::vector<Said> log_;  // of this boot, as the kernel keeps it
  std::string boot_ = scenario_.boot;
  std::uint64_t sequence_ = 0;
  std::size_t old_lines_ = 0;

  Seen seen_;
  std::vector<std::string> wrong_;
};

void Player::be_sound() {
  for (std::size_t gpu = 0; gpu < cards_.size(); ++gpu) {
    auto& own = values_[{gpu, {}}];
    for (const auto& [id, reading] : sound_card(cards_[gpu])) own[id] = reading;
    for (const auto& link : cards_[gpu].nvlinks) {
      auto& of_link = values_[{gpu, {EntityKind::nvlink, link.link}}];
      for (const auto& [id, reading] : sound_link()) of_link[id] = reading;
    }
  }
  for (const auto& [id, reading] : sound_node()) node_values_[id] = reading;
}

// What the kernel said before the agent's first start stands in its log.
void Player::read_old_lines() {
  for (const Step& step : scenario_.steps) {
    if (step.at >= Nanoseconds{0}) break;
    ++old_lines_;
    if (const auto* line = std::get_if<Line>(&step.act)) say(*line, up_since + step.at);
  }
}

void Player::start() {
  device::SourceStatus status;
  status.state = source_;
  status.since = now();
  run_.clerk().follow("/dev/kmsg");
  run_.heard().on_status(status);
  tell_driver();
  run_.heard().on_inventory(cards_);
  read_log_again();
  look();
}

void Player::tell_driver() {
  run_.heard().on_driver({.driver_version = driver_,
                          .nvml_version = "",
                          .cuda_version = 0,
                          .simulated = false,
                          .abi_notes = {}});
}

void Player::tell_readings() {
  std::vector<device::TargetReading> batch;
  for (std::size_t gpu = 0; gpu < cards_.size(); ++gpu) {
    if (states_[gpu] != device::GpuState::present) continue;
    batch.clear();
    for (const auto& [part, values] : values_) {
      if (part.first != gpu) continue;
      for (auto [id, reading] : values) {
        reading.taken_at = now();
        batch.push_back({part.second, id, reading});
      }
    }
    run_.heard().on_readings(cards_[gpu].pci, batch);
    const auto count = static_cast<std::int64_t>(processes_[gpu].size());
    run_.heard().on_processes(cards_[gpu].pci, Reading::of(count, now()), processes_[gpu]);
  }
  FieldValues node;
  for (auto [id, reading] : node_values_) {
    reading.taken_at = now();
    node.emplace_back(id, reading);
  }
  run_.store().on_node_readings(node);
  owners_.processes = {.reason = Reason::ok, .at = now()};
  run_.store().on_attribution(owners_);
}

void Player::look() {
  if (source_ == device::SourceState::running) tell_readings();
  run_.look();
  seen_.add(run_);
}

void Player::pass_until(Nanoseconds at) {
  const MonotonicTime end = up_since + at;
  const MonotonicTime began_at = now();
  Nanoseconds step = first_look;
  while (now() + step < end) {
    run_.advance_to(now() + step);
    look();
    const bool quiet = now() - began_at > quiet_from;
    step = std::min<Nanoseconds>(2 * step, quiet ? slowest_look : slow_look);
  }
  run_.advance_to(end);
}

void Player::set_one(const Set& set, std::size_t gpu) {
  const auto operand = *health::find_operand(set.field);
  if (!operand.field) {
    set_card_word(cards_[gpu], set.field, as_double(set.value));
    return run_.heard().on_inventory(cards_);
  }
  device::Target target;
  if (set.place.kind != Place::Kind::gpu) {
    target = {set.place.kind == Place::Kind::link ? EntityKind::nvlink : EntityKind::mig,
              static_cast<std::uint32_t>(std::max(set.place.number, 0))};
  }
  const auto put = [&](const device::Target& at) {
    Reading& reading = values_[{gpu, at}][*operand.field];
    if (set.reason != Reason::ok) {
      reading = Reading::none(set.reason, {});
      return;
    }
    reading.reason = Reason::ok;
    reading.value = set.more ? Value(as_double(reading.value) + as_double(set.value)) : set.value;
  };
  if (set.place.kind == Place::Kind::gpu || set.place.number >= 0) return put(target);
  const auto count =
      target.kind == EntityKind::nvlink ? cards_[gpu].nvlinks.size() : cards_[gpu].migs.size();
  for (std::uint32_t n = 0; n < count; ++n) put({target.kind, n});
}

void Player::operator()(const Set& set) {
  if (set.place.kind == Place::Kind::node) {
    const auto operand = *health::find_operand(set.field);
    if (!operand.field) return;
    Reading& reading = node_values_[*operand.field];
    reading = set.reason == Reason::ok ? Reading{.value = set.value, .reason = Reason::ok}
                                       : Reading::none(set.reason, {});
    return;
  }
  if (set.place.gpu >= 0) return set_one(set, static_cast<std::size_t>(set.place.gpu));
  for (std::size_t gpu = 0; gpu < cards_.size(); ++gpu) set_one(set, gpu);
}

void Player::operator()(const GpuTold& told) {
  for (std::size_t gpu = 0; gpu < cards_.size(); ++gpu) {
    if (told.gpu >= 0 && static_cast<std::size_t>(told.gpu) != gpu) continue;
    states_[gpu] = told.state;
    run_.heard().on_gpu_state(cards_[gpu].pci, told.state, "");
    if (told.state == device::GpuState::present) run_.heard().on_inventory(cards_);
  }
}

void Player::operator()(const Runs& runs) {
  for (std::size_t gpu = 0; gpu < cards_.size(); ++gpu) {
    if (runs.gpu >= 0 && static_cast<std::size_t>(runs.gpu) != gpu) continue;
    if (runs.pid == 0) {
      processes_[gpu].clear();
      continue;
    }
    // A process of its own on each card.
    const auto pid = runs.pid + (runs.gpu < 0 ? static_cast<std::uint32_t>(gpu) : 0);
    processes_[gpu].push_back({.pid = pid, .name = runs.name});
    if (!runs.job.empty()) owners_.owners[pid].job = SlurmJob{.id = runs.job};
  }
}

void Player::say(const Line& line, MonotonicTime at) {
  std::string text = line.text;
  for (std::size_t gpu = 0; gpu < cards_.size(); ++gpu) {
    const auto mark = fmt::format("{{gpu {}}}", gpu);
    for (auto place = text.find(mark); place != std::string::npos; place = text.find(mark)) {
      text.replace(place, mark.size(), cards_[gpu].pci.xid());
    }
  }
  const bool kernel = line.program == "kernel";
  for (unsigned n = 0; n < line.times; ++n) {
    std::vector<Event> events;
    parser_.read({.text = text, .program = line.program, .kernel = kernel}, events);
    ++sequence_;
    for (Event& event : events) {
      event.origin = {boot_, line.kernel_log ? "/dev/kmsg" : "journal", sequence_};
      if (line.kernel_log && !kernel) event.details.push_back({"writer", "program"});
      log_.push_back({at, std::move(event)});
    }
  }
}

void Player::operator()(const Line& line) {
  const std::size_t before = log_.size();
  say(line, now());
  std::vector<Event> told;
  for (std::size_t n = before; n < log_.size(); ++n) {
    log_[n].event.time = run_.clock().wall();
    told.push_back(log_[n].event);
  }
  run_.hear(told);
}

void Player::operator()(const SourceTold& told) {
  source_ = told.state;
  device::SourceStatus status;
  status.state = told.state;
  status.since = now();
  run_.heard().on_status(status);
  if (told.state == device::SourceState::running) run_.heard().on_inventory(cards_);
}

// As the agent does it at each start: the kernel's stamps are by its own clock, and the wall time of now is added.
void Player::read_log_again() {
  std::vector<Event> told;
  for (Said& said : log_) {
    said.event.time = WallTime{run_.clock().wall().since_epoch - (now() - said.at)};
    if (said.event.origin.source == "/dev/kmsg") told.push_back(said.event);
  }
  run_.hear(told);
}

void Player::operator()(const Restart& restart) {
  if (!restart.boot.empty()) {
    log_.clear();
    parser_ = {};
    sequence_ = 0;
    states_.assign(cards_.size(), device::GpuState::present);
    for (auto& running : processes_) running.clear();
    boot_ = restart.boot;
  }
  run_.restart(boot_);
  start();
}

void Player::operator()(const Asked& asked) {
  for (const auto& one : run_.clerk().book().all()) {
    if (one.cause != asked.cause || is_over(one)) continue;
    const incident::Request request{.to = asked.to, .who = "somebody"};
    const auto done = run_.clerk().book().request(one.id, request, run_.clock().wall());
    if (!done) wrong_.push_back(fmt::format("{}: {}", scenario_.file, done.error().message()));
  }
}

void Player::check(const Step& step) {
  const auto said = seen_.compare(step.act, run_, cards_);
  if (!said.empty()) wrong_.push_back(fmt::format("{}:{}: {}", scenario_.file, step.line, said));
}

void Player::tell_unexpected() {
  for (const auto& said : seen_.unexpected({scenario_.also.begin(), scenario_.also.end()})) {
    wrong_.push_back(fmt::format("{}: {}", scenario_.file, said));
  }
}

}  // namespace

Result<std::vector<std::string>> play(const Scenario& scenario) {
  auto cards = cards_of(scenario);
  if (!cards) return fail(cards.error());
  return Player(scenario, *std::move(cards)).play();
}

}  // namespace stoker::scenario
