#include <fmt/format.h>

#include <algorithm>

#include "nccl/readers.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

constexpr std::size_t most_hits = 20000;
constexpr std::size_t kept_calls = 64;  // of each communicator of each process

// "10.0.0.2<45763>", "node2<42830>", "fe80::1%ib0<53249>" without its port.
std::string peer_in(std::string_view text) {
  for (const auto* name : {"from peer ", "remote peer ", "onnect to ", "peer "}) {
    const auto word = word_behind(text, name, " <,");
    if (!word.empty()) return std::string(word);
  }
  return {};
}

std::vector<int> ranks_in(std::string_view text, const Sign& sign) {
  std::vector<int> ranks;
  if (sign.verdict != Class::user_code && sign.verdict != Class::collective_mismatch) return ranks;
  for (auto at = text.find("rank "); at != npos; at = text.find("rank ", at + 1)) {
    if (const auto rank = number_behind<int>(text.substr(at), "rank ")) ranks.push_back(*rank);
  }
  return ranks;
}

}  // namespace

std::string shown(std::string_view text, std::size_t most) {
  std::string out(trimmed(text.substr(0, most), " \t\r\n"));
  std::ranges::replace_if(
      out, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  if (text.size() > most) out += "...";
  return out;
}

void add_hit(Facts& facts, Hit hit) {
  auto key = std::hash<std::string_view>{}(hit.peer);
  for (const std::size_t part :
       {std::size_t(hit.sign - signs().data()), std::size_t{hit.process.value_or(~0U)},
        std::size_t(hit.rank.value_or(-1)), std::size_t{hit.place.file}}) {
    key = key * 1000003 + part;
  }
  const auto [known, fresh] = facts.hit_of.try_emplace(key, facts.hits.size());
  if (!fresh && known->second < facts.hits.size()) {
    Hit& same = facts.hits[known->second];
    ++same.count;
    for (const auto rank : hit.named_ranks) {
      if (!std::count(same.named_ranks.begin(), same.named_ranks.end(), rank))
        same.named_ranks.push_back(rank);
    }
  } else if (facts.hits.size() < most_hits) {
    facts.hits.push_back(std::move(hit));
  } else {
    facts.hit_of.erase(known);
    ++facts.left_out;
  }
}

std::uint32_t NcclReader::process_of(const Line& line, const Place& place) {
  const auto hash = std::hash<std::string_view>{}(line.host) * 31 + line.pid;
  const auto [first, end] = facts_.process_of.equal_range(hash);
  const auto known = std::find_if(first, end, [&](const auto& each) {
    const Process& process = facts_.processes[each.second];
    return process.pid == line.pid && process.host == line.host;
  });
  if (known != end) return known->second;
  const auto index = static_cast<std::uint32_t>(facts_.processes.size());
  Process& process = facts_.processes.emplace_back();
  process.host = line.host;
  process.pid = line.pid;
  process.file = place.file;
  process.first = place.order;
  facts_.process_of.emplace(hash, index);
  return index;
}

void NcclReader::read_version(std::string_view text) {
  if (!last_ || !text.starts_with("NCCL version ")) return;
  auto& version = facts_.processes[*last_].version;
  if (version.empty()) version = word_behind(text, "NCCL version ", " \t");
}

void NcclReader::read(const Line& line, const Place& place) {
  std::optional<std::uint32_t> process;
  if (!line.host.empty()) {
    process = last_ = process_of(line, place);
    Process& said = facts_.processes[*process];
    if (line.rank) said.front_rank = line.rank;
    said.last.file = place.file;
    said.last.line = place.line;
    said.last.order = place.order;
    if (line.voice == Voice::info) read_info(line, said, place);
  }
  if (line.voice == Voice::warn) read_warning(line, process, place);
  if (line.voice == Voice::info) {
    if (const auto* sign = find_sign(Where::info, line.text)) {
      Place shown_place = place;
      shown_place.text = shown(fmt::format("{}:{} {}", line.host, line.pid, line.text));
      add_hit(
          facts_,
          {.sign = sign, .process = process, .rank = line.rank, .place = std::move(shown_place)});
    }
  }
}

void NcclReader::read_warning(const Line& line, std::optional<std::uint32_t> process,
                              const Place& place) {
  const auto* sign = find_sign(Where::warn, line.text, line.file);
  if (sign == nullptr) return;
  add_hit(facts_, {.sign = sign,
                   .process = process,
                   .rank = line.rank,
                   .named_ranks = ranks_in(line.text, *sign),
                   .peer = peer_in(line.text),
                   .source = std::string(line.file),
                   .place = place});
}

void NcclReader::read_info(const Line& line, Process& process, const Place& place) {
  const auto text = line.text;
  if (contains(text, " opCount ") && read_call(text, process)) return;
  const bool whole = !line.cut || text.ends_with("START") || text.ends_with("COMPLETE");
  if (whole && contains(text, "rank") && read_comm(text, process, place)) return;
  if (text.starts_with("NCCL_")) {
    const auto name = text.substr(0, text.find(' '));
    auto value = word_behind(text, " set by environment to ", "\n");
    if (value.ends_with('.')) value.remove_suffix(1);
    if (!value.empty() && process.env.size() < 256)
      process.env[std::string(name)] = shown(value, 100);
  } else if (text.starts_with("Bootstrap") || text.starts_with("NET : Using interface")) {
    if (const auto word = word_behind(text, "Using ", "\n"); !word.empty())
      process.bootstrap = shown(word, 100);
  } else if (text.starts_with("Using network ")) {
    process.network = shown(text.substr(std::string_view("Using network ").size()), 40);
  } else if (text.starts_with("NCCL version ")) {
    process.version = word_behind(text, "NCCL version ", " \t");
  } else if (text.starts_with("NET/IB")) {
    process.roce = process.roce || contains(text, "/RoCE");
    process.infiniband = process.infiniband || contains(text, "/IB ");
  } else if (text.starts_with("Connected all")) {
    process.connected = true;
  } else if (text.starts_with("Channel ") && contains(text, "via NET/")) {
    process.over_network = true;
    process.gpu_direct = process.gpu_direct || contains(text, "/GDRDMA");
  } else if (contains(text, "Closing env plugin")) {
    facts_.ends.push_back(place);
  }
}

// "comm 0x48775fc0 rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId 60 commId 0x4c3ba331d40fb6fe - Init START"
bool NcclReader::read_comm(std::string_view text, Process& process, const Place& place) {
  const auto size = number_behind<int>(text, " nranks ");
  const auto rank = number_behind<int>(text, " rank ");
  const auto pointer = hex_behind(text, "comm ");
  if (!size || !rank || !pointer || *size > most_ranks || *rank < 0 || *rank >= *size) return false;
  if (contains(text, "cudaDev ") && !contains(text, " - "))
    return true;  // cut: its numbers may lack digits
  const auto id = hex_behind(text, "commId ").value_or(0);
  const bool complete = contains(text, "COMPLETE") && contains(text, "nit COMPLETE");
  auto& comms = process.comms;
  auto comm = std::find_if(comms.rbegin(), comms.rend(), [&](const CommRank& other) {
    return other.pointer == *pointer && other.id == id && other.rank == *rank && !other.destroyed;
  });
  if (comm == comms.rend()) {
    constexpr std::size_t most_comms = 4096;
    if (comms.size() >= most_comms) return true;
    comms.push_back({.id = id, .pointer = *pointer, .rank = *rank, .size = *size, .place = place});
    comms.back().place.text = shown(text);
    comm = comms.rbegin();
  }
  comm->started = true;
  comm->complete = comm->complete || complete;
  if (const auto device = number_behind<int>(text, "cudaDev ")) comm->device = *device;
  if (const auto bus = word_behind(text, "busId "); !bus.empty()) comm->bus = bus;
  if (contains(text, "Destroy COMPLETE") || contains(text, "Finalize COMPLETE"))
    comm->destroyed = true;
  return true;
}

// "AllReduce: opCount 1a sendbuff 0x.. recvbuff 0x.. count 512 datatype 0 op 0 root 0 comm 0x7f33 [nranks=16] .."
bool NcclReader::read_call(std::string_view text, Process& process) {
  const auto colon = text.find(':');
  const auto number = hex_behind(text, "opCount ");
  const auto pointer = hex_behind(text, " comm ");
  if (colon == npos || !number || !pointer) return false;
  Op op{.name = std::string(text.substr(0, colon))};
  if (op.name == "Send" || op.name == "Recv") return true;  // they have no call number of their own
  op.in = number_behind(text, " count ").value_or(-1);
  op.detail = word_behind(text, "datatype ");  // its number in ncclDataType_t
  auto& calls = process.calls[*pointer];
  calls.try_emplace(*number, std::move(op));
  if (calls.size() > kept_calls) calls.erase(calls.begin());
  return true;
}

}  // namespace stoker::nccl
