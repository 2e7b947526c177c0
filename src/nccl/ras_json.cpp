#include <fmt/format.h>

#include <algorithm>

#include "nccl/dumps.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

RankState state_of(const Item& rank, std::string_view operation) {
  RankState state;
  state.host = shown(rank["host"].text(), 100);
  state.pid = static_cast<std::uint32_t>(rank["pid"].integer().value_or(0));
  state.entered = rank["collective_counts"][operation].integer();
  return state;
}

// The operations whose counts differ between ranks; where none does, the first.
std::vector<std::string> operations_of(const Item& ranks) {
  std::vector<std::string> differ;
  const Item first = ranks[std::size_t{0}]["collective_counts"];
  for (std::size_t at = 0; at < first.size(); ++at) {
    const auto name = first.key(at).text();
    for (std::size_t i = 1; i < ranks.size(); ++i) {
      if (ranks[i]["collective_counts"][name].integer() == first[at].integer()) continue;
      differ.emplace_back(name);
      break;
    }
  }
  if (differ.empty() && first.size() > 0) differ.emplace_back(first.key(0).text());
  if (differ.empty()) differ.emplace_back();
  return differ;
}

void read_communicator(const Item& comm, std::uint64_t line, RasAnswer& answer) {
  const Item ranks = comm["ranks"];
  for (const auto& operation : operations_of(ranks)) {
    GroupStates group{.name = shown(comm["hash"].text(), 40), .source = StateSource::ras};
    group.size = static_cast<int>(
        std::clamp<std::int64_t>(comm["size"].integer().value_or(0), 0, most_ranks));
    group.counted = operation;
    for (std::size_t at = 0; at < ranks.size(); ++at) {
      const auto rank = ranks[at]["rank"].integer();
      if (!rank) continue;
      auto state = state_of(ranks[at], operation);
      state.place.file = answer.file;
      state.place.line = line;
      state.place.text =
          fmt::format("rank {}: {} {}", *rank, operation, state.entered.value_or(-1));
      const auto error = ranks[at]["status"]["async_error"].integer().value_or(0);
      constexpr std::int64_t in_progress = 7;  // ncclResult_t
      if (error != 0 && error != in_progress)
        answer.said.push_back(fmt::format("rank {} reports asynchronous error {}", *rank, error));
      group.ranks[static_cast<int>(*rank)] = std::move(state);
    }
    const Item missing = comm["missing_ranks"];
    for (std::size_t at = 0; at < missing.size(); ++at) {
      const auto rank = missing[at]["rank"].integer();
      if (!rank) continue;
      auto& state = group.ranks[static_cast<int>(*rank)];
      state = state_of(missing[at], operation);
      state.entered.reset();
      state.place.file = answer.file;
      state.place.line = line;
      // One that answers and has left this communicator is not gone; NCCL says so where it knows.
      const auto unresponsive = missing[at]["unresponsive"];
      if (!unresponsive || unresponsive.truth()) group.gone.insert(static_cast<int>(*rank));
    }
    answer.groups.push_back(std::move(group));
  }
}

}  // namespace

Result<void> add_ras(const Tree& tree, std::uint32_t file, std::uint64_t line, Facts& facts) {
  const Item root(tree, tree.root);
  const Item comms = root["communicators"];
  if (comms.kind() != Tree::Kind::list)
    return fail(ErrorCode::corrupt, "it is no answer of NCCL's RAS");
  RasAnswer answer{.file = file,
                   .line = line,
                   .nccl_version = shown(root["nccl_version"].text(), 40),
                   .whole = true};
  for (std::size_t at = 0; at < comms.size(); ++at) read_communicator(comms[at], line, answer);
  const auto timeouts = root["ras"]["timeouts_count"].integer().value_or(0);
  if (timeouts > 0)
    answer.said.push_back(fmt::format("{} processes did not answer in time", timeouts));
  facts.ras.push_back(std::move(answer));
  return {};
}

}  // namespace stoker::nccl
