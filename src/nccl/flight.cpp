#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "nccl/dumps.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

constexpr std::size_t kept_ops = 64;  // of each group: those around where it stands still

// "fr-hang-3.pickle", "nccl_trace_rank_12", "trace.17.json"
std::optional<int> rank_of_name(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  const auto last = name.find_last_of("0123456789");
  if (last == npos) return std::nullopt;
  auto digits = name.substr(0, last + 1);
  const auto before = digits.find_last_not_of("0123456789");
  if (before != npos) digits = digits.substr(before + 1);
  return whole_number<int>(digits);
}

// "[0, 1, 2, 3]", as text or as a list.
std::vector<int> ranks_of(const Item& item) {
  std::vector<int> ranks;
  for (std::size_t at = 0; item.kind() == Tree::Kind::list && at < item.size(); ++at) {
    if (const auto rank = item[at].integer()) ranks.push_back(static_cast<int>(*rank));
  }
  auto text = item.text();
  for (auto at = text.find_first_of("0123456789"); at != npos;
       at = text.find_first_of("0123456789")) {
    text.remove_prefix(at);
    const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
    if (const auto rank = whole_number<int>(digits)) ranks.push_back(*rank);
    text.remove_prefix(digits.size());
  }
  return ranks;
}

// [[268435456], [2, 3]] -> elements in all, and "[268435456] [2x3]".
std::int64_t elements(const Item& shapes, std::string& shown_shapes) {
  std::int64_t sum = 0;
  for (std::size_t at = 0; at < std::min<std::size_t>(shapes.size(), 64); ++at) {
    std::int64_t product = 1;
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(shapes[at].size(), 16); ++i) {
      const auto length = shapes[at][i].integer().value_or(0);
      if (__builtin_mul_overflow(product, length, &product)) product = -1;
      text += (i == 0 ? "" : "x") + std::to_string(length);
    }
    if (__builtin_add_overflow(sum, product, &sum)) sum = -1;
    shown_shapes += (at == 0 ? "[" : " [") + text + "]";
  }
  return sum;
}

Op op_of(const Item& entry) {
  Op op;
  auto name = entry["profiling_name"].text();
  if (name.starts_with("nccl:")) name.remove_prefix(5);
  op.name = name;
  std::string in;
  std::string out;
  op.in = elements(entry["input_sizes"], in);
  op.out = elements(entry["output_sizes"], out);
  op.detail = in;
  if (const auto type = entry["input_dtypes"][std::size_t{0}].text(); !type.empty()) {
    op.detail += fmt::format(" {}", shown(type, 40));
  }
  return op;
}

// Which group an entry is of: the key that pg_config and pg_status use, which is the name.
std::string group_of(const Item& entry) {
  if (const auto name = entry["process_group"][std::size_t{0}].text(); !name.empty())
    return shown(name, 100);
  if (const auto id = entry["pg_id"].integer()) return std::to_string(*id);
  return "?";
}

GroupStates& group_named(Dump& dump, const std::string& name, int rank) {
  auto& group = dump.groups[name];
  group.name = name;
  group.source = StateSource::dump;
  group.ranks[rank].place.file = dump.file;
  return group;
}

// "nccl:send 1->2", "nccl:recv 3<-0" (torch/distributed/flight_recorder/components/types.py, Op), by ranks of the group.
bool read_transfer(const Item& entry, Dump& dump) {
  auto name = entry["profiling_name"].text();
  name.remove_prefix(std::min(name.find(':') + 1, name.size()));
  const bool receives = name.starts_with("recv ");
  if (!receives && !name.starts_with("send ")) return false;
  constexpr std::size_t word = 5;
  const auto arrow = name.find(receives ? "<-" : "->");
  if (arrow == npos || arrow < word) return true;
  const auto mine = whole_number<int>(name.substr(word, arrow - word));
  const auto other = whole_number<int>(name.substr(arrow + 2));
  if (!mine || !other) return true;
  const auto group = group_of(entry);
  const int from = receives ? *other : *mine;
  const int to = receives ? *mine : *other;
  auto known = std::ranges::find_if(dump.transfers, [&](const Transfers& each) {
    return each.receives == receives && each.from == from && each.to == to && each.group == group;
  });
  if (known == dump.transfers.end()) {
    constexpr std::size_t most = 4096;
    if (dump.transfers.size() >= most) return true;
    known = dump.transfers.insert(known,
                                  {.group = group, .from = from, .to = to, .receives = receives});
  }
  ++known->issued;
  known->waits = entry["state"].text() != "completed";
  return true;
}

// A group's ranks are numbered in the order of its members' own, as torch's analyzer has it.
void name_transfers(Dump& dump) {
  std::erase_if(dump.transfers, [&](Transfers& each) {
    const auto group = dump.groups.find(each.group);
    if (group == dump.groups.end() || group->second.members.empty()) return true;
    auto members = group->second.members;
    std::ranges::sort(members);
    if (each.from < 0 || each.to < 0 || std::max(each.from, each.to) >= std::ssize(members))
      return true;
    each.from = members[static_cast<std::size_t>(each.from)];
    each.to = members[static_cast<std::size_t>(each.to)];
    return dump.rank != (each.receives ? each.to : each.from);
  });
}

// In a group of which a rank is a member, what a dump of all its calls does not have was never called, or never finished.
void say_what_was_never_called(Dump& dump, int rank) {
  for (auto& [name, group] : dump.groups) {
    auto& state = group.ranks[rank];
    const bool member = std::ranges::find(group.members, rank) != group.members.end();
    if (!member) continue;
    if (!state.entered) state.entered = 0;
    if (!state.completed) state.completed = 0;
  }
}

void read_entry(const Item& entry, Dump& dump, int rank) {
  if (read_transfer(entry, dump)) return;
  auto sequence = entry["collective_seq_id"].integer();
  if (!sequence) sequence = entry["seq_id"].integer();
  if (!sequence || entry["is_p2p"].truth()) return;  // versions before 2.0 have no is_p2p
  RankState& state = group_named(dump, group_of(entry), rank).ranks[rank];
  const bool done = entry["state"].text() == "completed";
  state.entered = std::max(state.entered.value_or(0), *sequence);
  if (done) state.completed = std::max(state.completed.value_or(0), *sequence);
  state.ops[*sequence] = op_of(entry);
  // A ring that is full: the oldest go. What waits is the newest.
  if (state.ops.size() > kept_ops && done) state.ops.erase(state.ops.begin());
}

void read_config(const Item& config, const Item& status, Dump& dump, int rank) {
  for (std::size_t at = 0; at < config.size(); ++at) {
    const auto name = shown(config.key(at).text(), 100);
    auto& group = group_named(dump, name, rank);
    group.members = ranks_of(config[at]["ranks"]);
    group.size = static_cast<int>(group.members.size());
  }
  // torch 2.11 writes the number of a send or receive there too, which each rank counts for itself (seen on two H200).
  const bool mixed = !dump.transfers.empty();
  for (std::size_t at = 0; at < status.size() && !mixed; ++at) {
    // Keyed by the group's number, which is its name where torch itself named it.
    const auto name = shown(status.key(at).text(), 100);
    if (!dump.groups.contains(name)) continue;
    RankState& state = dump.groups[name].ranks[rank];
    const auto number = [&](const char* key) { return status[at][key].integer(); };
    if (const auto entered = number("last_enqueued_collective"); entered && *entered >= 0)
      state.entered = entered;
    if (const auto completed = number("last_completed_collective"); completed && *completed >= 0) {
      state.completed = std::max(state.completed.value_or(0), *completed);
    }
  }
}

}  // namespace

Result<void> add_dump(const Tree& tree, std::uint32_t file, Facts& facts) {
  const Item root(tree, tree.root);
  const Item entries = root.kind() == Tree::Kind::list ? root : root["entries"];
  if (entries.kind() != Tree::Kind::list && !root["pg_config"]) {
    return fail(ErrorCode::corrupt, "it is no dump of PyTorch's flight recorder");
  }
  Dump dump;
  dump.file = file;
  dump.rank = rank_of_name(facts.files[file].name);
  dump.version = shown(root["version"].text(), 20);
  dump.nccl_version = shown(root["comm_lib_version"].text(), 40);
  if (dump.nccl_version.empty()) dump.nccl_version = shown(root["nccl_version"].text(), 40);
  const int rank = dump.rank.value_or(-1);
  for (std::size_t at = 0; at < entries.size(); ++at) read_entry(entries[at], dump, rank);
  read_config(root["pg_config"], root["pg_status"], dump, rank);
  name_transfers(dump);
  const Item first = entries[std::size_t{0}];
  dump.whole = first["record_id"].integer() == 0 || first["id"].integer() == 0;
  if (dump.whole) say_what_was_never_called(dump, rank);
  if (entries.size() > 0) {
    const Item last = entries[entries.size() - 1];
    const bool transfer = last["is_p2p"].truth() ||
                          contains(last["profiling_name"].text(), ":send ") ||
                          contains(last["profiling_name"].text(), ":recv ");
    dump.ends_in_transfer = transfer && last["state"].text() != "completed";
  }
  facts.dumps.push_back(std::move(dump));
  return {};
}

Result<void> add_data(const Tree& tree, std::uint32_t file, std::uint64_t line, Facts& facts) {
  const Item root(tree, tree.root);
  if (root["communicators"]) return add_ras(tree, file, line, facts);
  return add_dump(tree, file, facts);
}

}  // namespace stoker::nccl
