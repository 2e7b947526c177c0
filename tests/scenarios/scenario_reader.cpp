#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

#include "base/closest.h"
#include "base/duration.h"
#include "base/text.h"
#include "health/operand.h"
#include "scenario.h"
#include "words.h"

namespace stoker::scenario {
namespace {

// Of a scenario.
constexpr Nanoseconds longest = std::chrono::hours(24 * 366);

template <typename T>
using Named = std::pair<std::string_view, T>;

constexpr auto reasons = std::to_array<Named<Reason>>({
    {"not_supported", Reason::not_supported},
    {"no_permission", Reason::no_permission},
    {"invalid", Reason::invalid},
    {"failed", Reason::failed},
    {"stale", Reason::stale},
});
constexpr auto sources = std::to_array<Named<device::SourceState>>({
    {"starting", device::SourceState::starting},
    {"running", device::SourceState::running},
    {"released", device::SourceState::released},
    {"library_missing", device::SourceState::library_missing},
    {"driver_missing", device::SourceState::driver_missing},
    {"version_mismatch", device::SourceState::version_mismatch},
    {"no_permission", device::SourceState::no_permission},
    {"driver_hung", device::SourceState::driver_hung},
    {"failed", device::SourceState::failed},
});
constexpr std::array<std::string_view, 4> verdicts = {"ok", "degraded", "critical", "unknown"};
constexpr std::array<std::string_view, 8> members = {
    "state", "severity", "action", "lines", "program", "recurrence", "driver_asks", "programs"};

template <typename Table>
auto one_of(Words& words, const Table& table, std::string_view what) {
  const auto at = words.take();
  const auto* found = std::ranges::find(table, at, &Table::value_type::first);
  if (found != table.end()) return Result<typename Table::value_type::second_type>(found->second);
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.first);
  return Result<typename Table::value_type::second_type>(
      words.wrong(fmt::format("\"{}\" is no {}: one of {}", at, what, listed(names))));
}

Result<int> gpu_number(Words& words, const Scenario& scenario, bool all_allowed) {
  const auto word = words.take();
  if (word == "all" && all_allowed) return -1;
  const auto number = whole_number<unsigned>(word);
  if (number && *number < scenario.gpus) return static_cast<int>(*number);
  return words.wrong(fmt::format("\"{}\" is no GPU of this node: 0 to {}{}", word,
                                 scenario.gpus - 1, all_allowed ? ", or all" : ""));
}

Result<int> part_number(Words& words, std::string_view what, unsigned count) {
  const auto word = words.take();
  if (word == "all" && count > 0) return -1;
  const auto number = whole_number<unsigned>(word);
  if (number && *number < count) return static_cast<int>(*number);
  return words.wrong(count == 0 ? fmt::format("this GPU has no {}; the header gives it some", what)
                                : fmt::format("\"{}\" is no {} of this GPU: 0 to {}, or all", word,
                                              what, count - 1));
}

unsigned instances_of(const Scenario& scenario, int gpu) {
  const auto found = scenario.instances.find(static_cast<unsigned>(gpu));
  return found == scenario.instances.end() ? 0 : found->second;
}

// "3", "3 link 5", "3 mig 0".
Result<Place> gpu_place(Words& words, const Scenario& scenario, bool all_allowed) {
  const auto gpu = gpu_number(words, scenario, all_allowed);
  if (!gpu) return fail(gpu.error());
  Place place{.kind = Place::Kind::gpu, .gpu = *gpu};
  if (words.next() == "link" || words.next() == "mig") {
    const bool link = words.take() == "link";
    place.kind = link ? Place::Kind::link : Place::Kind::instance;
    const auto number = part_number(words, link ? "link" : "mig",
                                    link ? scenario.links : instances_of(scenario, *gpu));
    if (!number) return fail(number.error());
    place.number = *number;
  }
  return place;
}

Result<Place> expected_place(Words& words, const Scenario& scenario) {
  const auto kind = words.take();
  if (kind == "node") return Place{};
  if (kind == "gpu") return gpu_place(words, scenario, false);
  if (kind != "pci")
    return words.wrong(fmt::format("on \"{}\": on gpu N, node or pci ADDRESS", kind));
  const auto word = words.take();
  const auto pci = PciAddress::parse(word);
  if (!pci) return words.wrong(fmt::format("\"{}\" is no PCI address, e.g. 0000:9a:00.0", word));
  return Place{.kind = Place::Kind::pci, .pci = *pci};
}

Result<Value> value_of(Words& words, std::string_view word) {
  if (word.starts_with("0x")) {
    std::int64_t number = 0;
    const auto [end, code] =
        std::from_chars(word.data() + 2, word.data() + word.size(), number, 16);
    if (code == std::errc{} && end == word.data() + word.size()) return Value(number);
  }
  if (const auto whole = whole_number<std::int64_t>(word)) return Value(*whole);
  if (const auto number = whole_number<double>(word)) return Value(*number);
  return words.wrong(fmt::format("\"{}\" is no number, e.g. 91, 0.5 or 0x40", word));
}

// "temperature 91", "pcie_replays +10", "temperature unknown failed".
Result<Act> set_of(Words& words, const Place& place) {
  Set set{.place = place, .field = std::string(words.take())};
  const auto operand = health::find_operand(set.field);
  if (!operand || set.field == "processes") {
    const auto hint = did_you_mean(set.field, health::operand_names());
    return words.wrong(
        fmt::format("\"{}\" is no field{}{}", set.field, hint.empty() ? "" : "; ", hint));
  }
  if (words.next() == "unknown") {
    words.take();
    const auto reason = one_of(words, reasons, "reason");
    if (!reason) return fail(reason.error());
    set.reason = *reason;
    return Act(set);
  }
  auto word = words.take();
  if (word.starts_with("+")) {
    set.more = true;
    word.remove_prefix(1);
  }
  const auto value = value_of(words, word);
  if (!value) return fail(value.error());
  set.value = *value;
  return Act(set);
}

Result<Act> runs_of(Words& words, int gpu) {
  if (words.next() == "nothing") {
    words.take();
    return Act(Runs{.gpu = gpu});
  }
  const auto word = words.take();
  const auto pid = whole_number<std::uint32_t>(word);
  if (!pid || *pid == 0) {
    return words.wrong(fmt::format("\"{}\" is no pid: runs PID NAME, or runs nothing", word));
  }
  Runs runs{.gpu = gpu, .pid = *pid, .name = std::string(words.take())};
  if (words.next() == "job") {
    words.take();
    runs.job = words.take();
    if (runs.job.empty()) return words.wrong("whose job? runs PID NAME job ID");
  }
  return Act(runs);
}

constexpr auto gpu_states = std::to_array<Named<device::GpuState>>({
    {"lost", device::GpuState::lost},
    {"hung", device::GpuState::hung},
    {"answers", device::GpuState::present},
});

Result<Act> gpu_act(Words& words, const Scenario& scenario) {
  const auto place = gpu_place(words, scenario, true);
  if (!place) return fail(place.error());
  const auto word = words.next();
  const bool of_gpu = place->kind == Place::Kind::gpu;
  if (const auto* state = std::ranges::find(gpu_states, word, &Named<device::GpuState>::first);
      of_gpu && state != gpu_states.end()) {
    words.take();
    return Act(GpuTold{.gpu = place->gpu, .state = state->second});
  }
  if (of_gpu && word == "xid") {
    words.take();
    const auto code = words.take();
    const auto number = whole_number<std::uint32_t>(code);
    if (!number) return words.wrong(fmt::format("\"{}\" is no Xid: a number", code));
    return Act(XidTold{.gpu = place->gpu, .xid = *number});
  }
  if (of_gpu && word == "runs") {
    words.take();
    return runs_of(words, place->gpu);
  }
  return set_of(words, *place);
}

Result<Act> line_of(Words& words, std::string program, bool kernel_log) {
  Line line{.program = std::move(program), .kernel_log = kernel_log};
  const auto word = words.next();
  if (word.size() > 1 && word[0] == 'x') {
    if (const auto times = whole_number<unsigned>(word.substr(1))) {
      words.take();
      if (*times == 0 || *times > Limits::lines_at_once) {
        return words.wrong(fmt::format("x{}: x1 to x{}", *times, Limits::lines_at_once));
      }
      line.times = *times;
    }
  }
  line.text = std::string(words.take_rest());
  if (line.text.empty()) return words.wrong("a line of a log has a text");
  return Act(line);
}

// "on gpu N", where it is said.
Result<void> take_place(Words& words, const Scenario& scenario,
                        decltype(ExpectFinding::place)& out) {
  if (words.next() != "on") return {};
  words.take();
  const auto place = expected_place(words, scenario);
  if (!place) return fail(place.error());
  out = *place;
  return {};
}

Result<Act> expect_finding(Words& words, const Scenario& scenario, bool none) {
  ExpectFinding expected{.none = none};
  if (words.next() != "on") expected.rule = std::string(words.take());
  if (expected.rule.empty() && !none) return words.wrong("expect finding RULE [on gpu N]");
  if (auto taken = take_place(words, scenario, expected.place); !taken) return fail(taken.error());
  return Act(expected);
}

Result<Act> expect_incident(Words& words, const Scenario& scenario, bool none) {
  ExpectIncident expected{.none = none};
  if (words.next() != "on") expected.cause = std::string(words.take());
  if (expected.cause.empty() && !none) return words.wrong("expect incident CAUSE [on gpu N]");
  if (auto taken = take_place(words, scenario, expected.place); !taken) return fail(taken.error());
  while (!words.next().empty()) {
    const auto word = words.take();
    const auto equals = word.find('=');
    const auto key = word.substr(0, equals);
    if (equals == std::string_view::npos || std::ranges::find(members, key) == members.end()) {
      return words.wrong(fmt::format("\"{}\": KEY=VALUE with a key of {}", word,
                                     listed({members.begin(), members.end()})));
    }
    expected.members.emplace(key, word.substr(equals + 1));
  }
  return Act(expected);
}

Result<Act> expect_act(Words& words, const Scenario& scenario) {
  const bool none = words.next() == "no";
  if (none) words.take();
  const auto what = words.take();
  if (what == "finding") return expect_finding(words, scenario, none);
  if (what == "incident") return expect_incident(words, scenario, none);
  const auto word = words.take();
  const auto count = whole_number<std::size_t>(word);
  if (!none && what == "incidents" && count) return Act(ExpectCount{*count});
  const bool is_verdict = std::ranges::find(verdicts, word) != verdicts.end();
  if (!none && what == "verdict" && is_verdict) return Act(ExpectVerdict{std::string(word)});
  return words.wrong(
      fmt::format("expect {}: [no] finding, [no] incident, incidents COUNT, verdict {}", what,
                  listed({verdicts.begin(), verdicts.end()})));
}

Result<Act> clock_act(Words& words) {
  auto word = words.take();
  const bool back = word.starts_with("-");
  if (back || word.starts_with("+")) word.remove_prefix(1);
  const auto by = parse_duration(word);
  if (!by) return words.wrong(fmt::format("clock: {}", by.error().message()));
  return Act(ClockMoved{.by = back ? -*by : *by});
}

Result<Act> upkeep_act(Words& words) {
  const auto word = words.take();
  if (word == "over") return Act(Upkeep{});
  const auto length = parse_duration(word);
  if (!length)
    return words.wrong(fmt::format("maintenance: {}, or over", length.error().message()));
  if (*length <= Nanoseconds{0}) return words.wrong("maintenance: longer than nothing, or over");
  return Act(Upkeep{.length = *length});
}

Result<Act> asked_act(Words& words) {
  const auto word = words.take();
  const auto to = incident_state_of(word);
  if (!to) {
    return words.wrong(fmt::format(
        "\"{}\" is no state: somebody acknowledged|mitigating|resolved|open CAUSE", word));
  }
  return Act(Asked{.cause = std::string(words.take()), .to = *to});
}

Result<Act> act_of(Words& words, const Scenario& scenario) {
  const auto verb = words.take();
  if (verb == "gpu") return gpu_act(words, scenario);
  if (verb == "node") return set_of(words, Place{});
  if (verb == "kmsg") return line_of(words, "kernel", true);
  if (verb == "kmsg-by-program") return line_of(words, "", true);
  if (verb == "journal") return line_of(words, std::string(words.take()), false);
  if (verb == "driver") return Act(DriverTold{std::string(words.take())});
  if (verb == "boot") return Act(Restart{std::string(words.take())});
  if (verb == "restart") return Act(Restart{});
  if (verb == "clock") return clock_act(words);
  if (verb == "maintenance") return upkeep_act(words);
  if (verb == "somebody") return asked_act(words);
  if (verb == "expect") return expect_act(words, scenario);
  if (verb == "source") {
    const auto state = one_of(words, sources, "state of the source");
    if (!state) return fail(state.error());
    return Act(SourceTold{*state});
  }
  return words.wrong(fmt::format(
      "\"{}\" is nothing that happens: gpu, node, kmsg, kmsg-by-program, journal, source, driver, "
      "boot, restart, clock, maintenance, somebody, expect",
      verb));
}

// "90s", "1h30m"; with a "-" before it what was before.
Result<Nanoseconds> time_of(Words& words) {
  auto word = words.take();
  const bool before = word.starts_with("-");
  if (before) word.remove_prefix(1);
  Nanoseconds at{0};
  do {
    const auto unit = std::min(word.find_first_not_of("0123456789."), word.size());
    const auto end = std::min(word.find_first_of("0123456789", unit), word.size());
    const auto part = parse_duration(word.substr(0, end));
    if (!part) return words.wrong(fmt::format("at: {}", part.error().message()));
    at += *part;
    if (at > longest) return words.wrong(fmt::format("at: at most {}", duration_text(longest)));
    word.remove_prefix(end);
  } while (!word.empty());
  return before ? -at : at;
}

bool is_expectation(const Act& act) {
  return std::holds_alternative<ExpectFinding>(act) ||
         std::holds_alternative<ExpectIncident>(act) || std::holds_alternative<ExpectCount>(act) ||
         std::holds_alternative<ExpectVerdict>(act);
}

Result<void> read_step(Words& words, Scenario& scenario) {
  const auto at = time_of(words);
  if (!at) return fail(at.error());
  if (!scenario.steps.empty() && *at < scenario.steps.back().at) {
    return words.wrong("steps stand in the order of their times");
  }
  auto act = act_of(words, scenario);
  if (!act) return fail(act.error());
  if (*at < Nanoseconds{0} && !std::holds_alternative<Line>(*act)) {
    return words.wrong("before zero there are lines of the kernel's log alone");
  }
  if (!scenario.steps.empty() && *at == scenario.steps.back().at && !is_expectation(*act) &&
      is_expectation(scenario.steps.back().act)) {
    return words.wrong("at one time what happens stands before what is expected");
  }
  if (!words.rest().empty()) {
    return words.wrong(fmt::format("\"{}\" is more than belongs here", words.rest()));
  }
  scenario.steps.push_back({.at = *at, .line = words.line(), .act = *std::move(act)});
  return {};
}

Result<void> read_gpus(Words& words, Scenario& scenario) {
  const auto count = whole_number<unsigned>(words.take());
  if (!count || *count == 0 || *count > Limits::gpus) {
    return words.wrong(fmt::format("gpus: COUNT PRODUCT, 1 to {}", Limits::gpus));
  }
  scenario.gpus = *count;
  scenario.product = std::string(words.take());
  return {};
}

Result<void> read_links(Words& words, Scenario& scenario) {
  const auto count = whole_number<unsigned>(words.take());
  if (!count || *count == 0 || *count > Limits::links) {
    return words.wrong(fmt::format("links: COUNT [to gpus], 1 to {}", Limits::links));
  }
  scenario.links = *count;
  scenario.links_to_gpus = words.rest() == "to gpus";
  return {};
}

Result<void> read_pci(Words& words, Scenario& scenario) {
  const auto gpu = gpu_number(words, scenario, false);
  if (!gpu) return fail(gpu.error());
  const auto pci = PciAddress::parse(words.take());
  if (!pci) return words.wrong("pci: GPU ADDRESS, e.g. pci: 3 0000:9a:00.0");
  scenario.pci[static_cast<unsigned>(*gpu)] = *pci;
  return {};
}

Result<void> read_mig(Words& words, Scenario& scenario) {
  const auto gpu = gpu_number(words, scenario, false);
  if (!gpu) return fail(gpu.error());
  const auto count = whole_number<unsigned>(words.take());
  if (!count || *count == 0 || *count > Limits::instances) {
    return words.wrong(fmt::format("mig: GPU COUNT, 1 to {}", Limits::instances));
  }
  scenario.instances[static_cast<unsigned>(*gpu)] = *count;
  return {};
}

Result<void> read_header(Words& words, std::string_view key, Scenario& scenario) {
  if (!scenario.steps.empty()) return words.wrong("what the node is stands before what happens");
  const auto text = std::string(words.rest());
  if (text.empty()) return words.wrong(fmt::format("{}: has a value", key));
  if (key == "gpus") return read_gpus(words, scenario);
  if (key == "links") return read_links(words, scenario);
  if (key == "pci") return read_pci(words, scenario);
  if (key == "mig") return read_mig(words, scenario);
  if (key == "also") {
    while (!words.next().empty()) scenario.also.emplace_back(words.take());
    return {};
  }
  const std::map<std::string_view, std::string*> texts = {{"name", &scenario.name},
                                                          {"source", &scenario.source},
                                                          {"driver", &scenario.driver},
                                                          {"boot", &scenario.boot}};
  const auto found = texts.find(key);
  if (found == texts.end()) {
    return words.wrong(
        fmt::format("\"{}\" is neither `at TIME` nor one of name, source, gpus, driver, boot, pci, "
                    "links, mig, also",
                    key));
  }
  *found->second = text;
  return {};
}

Result<void> read_line(Words& words, Scenario& scenario) {
  auto first = words.take();
  if (first == "at") return read_step(words, scenario);
  if (first.ends_with(":")) first.remove_suffix(1);
  return read_header(words, first, scenario);
}

}  // namespace

Result<Scenario> read(std::string_view text, const std::string& file) {
  Scenario scenario;
  scenario.file = file;
  unsigned number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end), " \t\r");
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line[0] == '#') continue;
    Words words(file, number, line);
    if (auto done = read_line(words, scenario); !done) return fail(done.error());
  }
  if (scenario.name.empty() || scenario.source.empty()) {
    return fail(ErrorCode::invalid_input,
                fmt::format("{}: a scenario has a name and a source: whose report it is made from, "
                            "or made",
                            file));
  }
  return scenario;
}

}  // namespace stoker::scenario
