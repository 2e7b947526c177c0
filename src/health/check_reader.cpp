#include "health/check_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/closest.h"
#include "health/check_text.h"
#include "health/check_words.h"
#include "health/rules.h"

namespace stoker::health {
namespace {

using yaml::MapReader;
using yaml::Need;
using yaml::Node;

constexpr std::array scopes = {EntityKind::gpu, EntityKind::mig, EntityKind::nvlink,
                               EntityKind::node};
constexpr std::size_t most_checks = 1000;
constexpr std::size_t most_operands = 8;
constexpr std::uint32_t highest_xid = 100'000;
constexpr unsigned most_readings = 1000;

std::string hint_or(const std::string& hint, const char* otherwise) {
  return hint.empty() ? otherwise : hint;
}

std::string place_text(MapReader& map, yaml::Place place) {
  return fmt::format("{}:{}:{}", map.problems().file(), place.line, place.column);
}

// The operand that `node` names, if a check about `scope` may ask for it.
std::optional<Operand> operand_of(MapReader& map, const Node& node, const std::string& what,
                                  EntityKind scope) {
  const auto operand =
      node.kind == Node::Kind::scalar ? find_operand(node.text) : std::optional<Operand>();
  if (!operand) {
    map.problem(node.place, fmt::format("{}: there is no field '{}'; {}", what, node.text,
                                        hint_or(did_you_mean(node.text, operand_names()),
                                                "`stoker fields` lists those that there are")));
    return std::nullopt;
  }
  if (!may_ask(scope, *operand)) {
    map.problem(node.place, fmt::format("{}: '{}' is about a {}, and this check about a {}", what,
                                        node.text, to_string(operand->entity), to_string(scope)));
    return std::nullopt;
  }
  return operand;
}

bool names_field(MapReader& map) {
  return map.find("field") != nullptr || map.find("fields") != nullptr;
}

void read_operands(MapReader& map, EntityKind scope, std::vector<Operand>& out) {
  std::vector<Operand> operands;
  if (const Node* node = map.find("field")) {
    if (auto one = operand_of(map, *node, map.name("field"), scope)) operands.push_back(*one);
  }
  map.each("fields", Need::optional, [&](const Node& node, const std::string& what) {
    if (auto one = operand_of(map, node, what, scope)) operands.push_back(*one);
  });
  if (operands.size() > most_operands) {
    map.problem(map.place(),
                fmt::format("{} has more than {} fields", map.name("fields"), most_operands));
  }
  const bool all_alike = std::ranges::all_of(operands, [&](const Operand& operand) {
    return operand.unit == operands.front().unit && operand.entity == operands.front().entity;
  });
  if (!all_alike) {
    map.problem(map.place(), map.name("fields") + " have to be of one unit and about one thing");
  }
  if (!operands.empty()) out = std::move(operands);
}

// A number, or {of: a field or word of the card, times: a factor, offset: a number}.
void read_limit(MapReader& map, EntityKind scope, Limit& out) {
  const Node* node = map.find("limit");
  if (node == nullptr) return;
  Limit limit;
  limit.place = place_text(map, node->place);
  if (node->kind == Node::Kind::map) {
    MapReader parts(*node, map.name("limit"), map.problems());
    if (const Node* of = parts.need("of")) {
      limit.of = operand_of(parts, *of, parts.name("of"), scope);
    }
    read_number(parts, "times", limit.times, Need::optional);
    read_number(parts, "offset", limit.offset, Need::optional);
    parts.finish();
  } else {
    read_number(map, "limit", limit.offset, Need::required);
  }
  out = std::move(limit);
}

void read_condition(MapReader& map, EntityKind scope, Condition& out) {
  read_operands(map, scope, out.operands);
  read_word(map, "is", relation_count, out.is, Need::optional);
  read_limit(map, scope, out.limit);
  map.numbers("values", out.values, 0, std::numeric_limits<std::int64_t>::max());
}

// What every condition has to have; `what` is its place in messages.
void require_whole(MapReader& map, const Condition& condition) {
  const bool ordering = is_ordering(condition.is);
  if (ordering && condition.limit.place.empty()) {
    map.problem(map.place(), map.name("limit") + " is missing");
  }
  if (!ordering && condition.values.empty()) {
    map.problem(map.place(), fmt::format("{} is missing: the set or the bits that '{}' asks for",
                                         map.name("values"), to_string(condition.is)));
  }
}

void read_meanwhile(MapReader& map, Check& out) {
  if (map.find("while") == nullptr) return;
  std::vector<Condition> all;
  map.each("while", Need::optional, [&](const Node& node, const std::string& what) {
    MapReader one(node, what, map.problems());
    Condition condition;
    read_condition(one, out.scope, condition);
    one.need("is");
    if (!names_field(one)) one.need("field");
    require_whole(one, condition);
    one.finish();
    all.push_back(std::move(condition));
  });
  out.meanwhile = std::move(all);
}

void read_reasons(MapReader& map, std::vector<Reason>& out) {
  std::vector<Reason> reasons;
  const std::vector<std::string> words = words_of<Reason>(reason_count);
  map.each("reasons", Need::optional, [&](const Node& node, const std::string& what) {
    const auto found = std::ranges::find(words, node.text);
    if (found == words.end() || node.text == "ok") {
      map.problem(node.place, fmt::format("{} has to be one of {}, not '{}'", what,
                                          listed({words.begin() + 1, words.end()}), node.text));
      return;
    }
    reasons.push_back(static_cast<Reason>(found - words.begin()));
  });
  if (!reasons.empty()) out = std::move(reasons);
}

// Lists stay as they were unless named; an empty list can't be said, so what applies to few can't be widened to
// all by leaving it out.
void read_list(MapReader& map, std::string_view key, std::vector<std::string>& out) {
  std::vector<std::string> words;
  map.texts(key, words);
  if (!words.empty()) out = std::move(words);
}

void read_times(MapReader& map, Check& out, bool fresh) {
  read_duration(map, "window", out.window);
  read_duration(map, "for", out.holds_for);
  if (fresh) out.clear_for = out.holds_for;
  read_duration(map, "clear_for", out.clear_for);
  map.number("consecutive", out.consecutive, 1, most_readings);
  read_duration(map, "boot_grace", out.boot_grace);
}

void read_texts(MapReader& map, Check& out, Need need) {
  map.text("title", out.title, need);
  map.text("message", out.message, need);
  map.text("cause", out.cause, need);
  map.text("fix", out.fix, need);
  map.text("source", out.source, need);
  map.text("why", out.why);
  if (const auto wrong = wrong_placeholder(out.message)) {
    const Node* node = map.find("message");
    map.problem(node == nullptr ? map.place() : node->place,
                fmt::format("{} has '{}'; known are {}", map.name("message"), *wrong,
                            listed(placeholders())));
  }
}

// What its kind asks for and what it does not know.
void require_kind(MapReader& map, const Check& check) {
  const auto missing = [&](bool is_missing, std::string_view key) {
    if (is_missing) {
      map.problem(map.place(), fmt::format("{} is missing: kind {} asks for it", map.name(key),
                                           to_string(check.kind)));
    }
  };
  const bool counts = check.kind == CheckKind::rate || check.kind == CheckKind::frequency;
  const bool counter = std::ranges::any_of(check.condition.operands, &Operand::is_counter);
  missing(check.kind == CheckKind::frequency && check.xids.empty(), "xids");
  missing(
      check.kind != CheckKind::frequency && check.condition.operands.empty() && !names_field(map),
      "field");
  missing(check.kind == CheckKind::absence && check.reasons.empty(), "reasons");
  missing((counts || (check.kind == CheckKind::peers && counter)) && check.window == Nanoseconds{0},
          "window");
  if (check.kind == CheckKind::rate && !check.condition.operands.empty() && !counter) {
    map.problem(map.place(), map.name("field") + " has to be a counter for kind rate");
  }
  if (check.among == Among::job && check.kind != CheckKind::peers) {
    map.problem(map.place(), map.name("among") + " is of kind peers alone");
  }
  const bool per_gpu = check.kind == CheckKind::peers || check.kind == CheckKind::frequency;
  if (per_gpu && check.scope == EntityKind::node) {
    map.problem(map.place(), fmt::format("{} can't be node for kind {}", map.name("scope"),
                                         to_string(check.kind)));
  }
  const bool all_gpus = check.scope == EntityKind::node && !check.condition.operands.empty() &&
                        check.condition.operands.front().entity == EntityKind::gpu;
  if (all_gpus && check.kind != CheckKind::threshold && check.kind != CheckKind::state) {
    map.problem(map.place(), fmt::format("{} of GPUs can't be asked of the node for kind {}",
                                         map.name("field"), to_string(check.kind)));
  }
  if (check.kind == CheckKind::absence) return;
  const bool needs_set = check.kind == CheckKind::state;
  if (needs_set == is_ordering(check.condition.is)) {
    map.problem(map.place(),
                fmt::format("{} has to be one of {} for kind {}, not '{}'", map.name("is"),
                            needs_set ? "one_of, none_of, any_bit and no_bit"
                                      : "above, at_least, below and at_most",
                            to_string(check.kind), to_string(check.condition.is)));
    return;
  }
  require_whole(map, check.condition);
}

// What a check is about and how it judges stays: the rest of its row hangs on it.
template <typename T>
void keep(MapReader& map, std::string_view key, T before, T& now) {
  if (now == before) return;
  map.problem(map.find(key)->place,
              fmt::format("{} is {} and can't be changed; add a check of another id", map.name(key),
                          to_string(before)));
  now = before;
}

void read_nature(MapReader& map, Check& out, bool fresh) {
  const CheckKind kind = out.kind;
  const EntityKind scope = out.scope;
  read_word(map, "kind", kind_count, out.kind, fresh ? Need::required : Need::optional);
  std::vector<std::string> words;
  words.reserve(scopes.size());
  for (const EntityKind one : scopes) words.emplace_back(to_string(one));
  std::size_t index = scopes.size();
  map.word("scope", words, index);
  if (index < scopes.size()) out.scope = scopes.at(index);
  if (fresh) return;
  keep(map, "kind", kind, out.kind);
  keep(map, "scope", scope, out.scope);
}

// What a rule about ports judges is no matter of a file; when it is told is.
void read_port_check(MapReader& map, Check& out) {
  read_duration(map, "for", out.holds_for);
  read_duration(map, "clear_for", out.clear_for);
  if (out.window > Nanoseconds{0}) {
    read_duration(map, "window", out.window);
    if (out.window < Seconds(1))
      map.problem(map.find("window")->place, map.name("window") + " has to be a second or more");
  }
  map.number("consecutive", out.consecutive, 1, most_readings);
  read_word(map, "severity", severity_count, out.severity, Need::optional);
  read_word(map, "action", action_count, out.action, Need::optional);
  map.text("title", out.title, Need::optional);
  map.text("cause", out.cause, Need::optional);
  map.text("fix", out.fix, Need::optional);
  map.text("source", out.source, Need::optional);
  map.text("why", out.why);
  out.file = map.problems().file();
  map.finish();
}

void read_check(MapReader& map, Check& out, bool fresh) {
  const Need need = fresh ? Need::required : Need::optional;
  read_nature(map, out, fresh);
  if (fresh && out.kind == CheckKind::port) {
    map.problem(map.place(),
                map.name("kind") + " port is of the checks about ports that are built in");
    return;
  }
  map.flag("enabled", out.enabled);
  if (out.kind == CheckKind::port) return read_port_check(map, out);
  if (fresh && out.kind == CheckKind::state) out.condition.is = Relation::one_of;
  read_condition(map, out.scope, out.condition);
  read_meanwhile(map, out);
  map.numbers("xids", out.xids, 0, highest_xid);
  read_reasons(map, out.reasons);
  std::size_t since = static_cast<std::size_t>(out.since);
  map.word("since", {"first", "last"}, since);
  out.since = static_cast<Since>(since);
  std::size_t among = static_cast<std::size_t>(out.among);
  map.word("among", {"node", "job"}, among);
  out.among = static_cast<Among>(among);
  read_times(map, out, fresh);
  read_list(map, "architectures", out.architectures);
  read_list(map, "products", out.products);
  read_word(map, "severity", severity_count, out.severity, need);
  read_word(map, "action", action_count, out.action, need);
  read_texts(map, out, need);
  require_kind(map, out);
  out.file = map.problems().file();
  map.finish();
}

bool is_id(std::string_view id) {
  return !id.empty() &&
         id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

// Reads one row into `checks`, if it has an id that it may have.
void take_row(MapReader& map, std::vector<Check>& checks, std::set<std::string>& seen) {
  const Node* node = map.need("id");
  if (node == nullptr) return;
  const std::string& id = node->text;
  if (!is_id(id)) {
    map.problem(node->place, map.name("id") + " has to be of a-z, 0-9 and '-', not '" + id + "'");
    return;
  }
  if (!seen.insert(id).second) {
    map.problem(node->place, fmt::format("{}: '{}' stands twice in this file", map.name("id"), id));
    return;
  }
  if (std::ranges::find(all_rules(), id, &Rule::name) != all_rules().end()) {
    map.problem(node->place, fmt::format("{}: '{}' is a rule of the node, which no file changes",
                                         map.name("id"), id));
    return;
  }
  const auto found = std::ranges::find(checks, id, &Check::id);
  if (found != checks.end()) return read_check(map, *found, false);
  if (checks.size() >= most_checks) {
    map.problem(node->place, fmt::format("there are more than {} checks", most_checks));
    return;
  }
  if (map.find("kind") == nullptr) {
    std::vector<std::string> ids;
    ids.reserve(checks.size());
    for (const Check& check : checks) ids.push_back(check.id);
    map.problem(node->place,
                fmt::format("{}: there is no check '{}' to change; {}", map.name("id"), id,
                            hint_or(did_you_mean(id, ids), "a new one begins with its kind")));
    return;
  }
  Check fresh;
  fresh.id = id;
  read_check(map, fresh, true);
  checks.push_back(std::move(fresh));
}

}  // namespace

Result<std::vector<Check>> read_checks(std::string_view text, const std::string& file,
                                       std::vector<Check> base) {
  const auto root = yaml::parse(text, file);
  if (!root) return fail(root.error());
  yaml::Problems problems(file);
  MapReader map(*root, "", problems);
  std::set<std::string> seen;
  map.each("checks", Need::required, [&](const Node& node, const std::string& what) {
    MapReader row(node, what, problems);
    take_row(row, base, seen);
  });
  map.finish();
  if (!problems.none()) return fail(problems.error());
  return base;
}

}  // namespace stoker::health
