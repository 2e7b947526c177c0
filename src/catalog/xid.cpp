#include "catalog/xid.h"

#include <algorithm>
#include <array>

namespace stoker {
namespace {

constexpr std::uint32_t last_of_catalogue = 172;  // NVIDIA's; the rest is the driver's header

constexpr auto xids = [] {
  using enum FaultLevel;
  constexpr std::optional<FaultLevel> undocumented;
  constexpr bool linked = true;
  constexpr bool apart = false;
  return std::to_array<Xid>({
#define STOKER_XID(number, mnemonic, text, level, action, immediate, then, products, since, \
                   recovery)                                                                \
  {number, mnemonic, text, level, Action::action, immediate, then, products, since, recovery},
#include "catalog/xids.def"
#undef STOKER_XID
  });
}();

constexpr auto meanings = [] {
  constexpr bool same = true;
  constexpr bool other = false;
  return std::to_array<XidMeaning>({
#define STOKER_XID_MEANING(number, since, mnemonic, facts) {number, since, mnemonic, facts},
#include "catalog/xid_meanings.def"
#undef STOKER_XID_MEANING
  });
}();

constexpr auto peers = [] {
  constexpr bool ignored = true;
  constexpr bool kept = false;
  constexpr bool fails = true;
  constexpr bool passes = false;
  return std::to_array<XidPeers>({
#define STOKER_XID_PEERS(number, dcgm, gpud, causes, plugin, azure) \
  {number, dcgm, gpud, causes, plugin, azure},
#include "catalog/xid_peers.def"
#undef STOKER_XID_PEERS
  });
}();

struct Note {
  std::uint32_t number;
  std::string_view text;
};
constexpr auto notes = std::to_array<Note>({
#define STOKER_XID_NOTE(number, note) {number, note},
#include "catalog/xid_notes.def"
#undef STOKER_XID_NOTE
});

struct Bucket {
  std::string_view name;
  std::string_view words;
};
constexpr auto buckets = std::to_array<Bucket>({
#define STOKER_XID_BUCKET(bucket, words) {bucket, words},
#include "catalog/xid_buckets.def"
#undef STOKER_XID_BUCKET
});

template <typename Rows>
auto find_row(const Rows& rows, std::uint64_t number) {
  using Row = typename Rows::value_type;
  const auto* row = std::ranges::find(rows, number, &Row::number);
  return row == rows.end() ? nullptr : row;
}

}  // namespace

const Xid* find_xid(std::uint64_t number) { return find_row(xids, number); }

std::span<const XidMeaning> xid_meanings(std::uint64_t number) {
  const auto found = std::ranges::equal_range(meanings, number, {}, &XidMeaning::number);
  return {found.begin(), found.end()};
}

XidReading read_xid_number(std::uint64_t number, const std::optional<DriverVersion>& driver) {
  using Known = XidReading::Known;
  const Xid* row = find_xid(number);
  if (row == nullptr) return {};
  const XidReading now{.known = Known::yes, .mnemonic = row->mnemonic, .facts = row};
  if (!driver) return now;
  const auto all = xid_meanings(number);
  const XidMeaning* meant = nullptr;
  for (const auto& each : all) {
    if (DriverVersion::parse(each.since) <= driver) meant = &each;
  }
  if (meant == nullptr) {
    const bool older = !row->since.empty() && row->since != oldest_driver_tag &&
                       DriverVersion::parse(row->since) > driver;
    return older ? XidReading{.known = Known::not_defined} : now;
  }
  if (meant->same) return {.known = Known::yes, .mnemonic = meant->mnemonic, .facts = row};
  const auto* twin = std::ranges::find(xids, meant->mnemonic, &Xid::mnemonic);
  return {.known = Known::other_meaning,
          .mnemonic = meant->mnemonic,
          .facts = twin == xids.end() ? nullptr : twin};
}

const XidPeers* find_xid_peers(std::uint64_t number) { return find_row(peers, number); }

std::vector<std::string_view> xid_notes(std::uint64_t number) {
  std::vector<std::string_view> found;
  for (const auto& note : notes) {
    if (note.number == number) found.push_back(note.text);
  }
  return found;
}

std::string_view xid_bucket_words(std::string_view bucket) {
  const auto* row = std::ranges::find(buckets, bucket, &Bucket::name);
  return row == buckets.end() ? std::string_view{} : row->words;
}

std::string_view xid_source(std::uint64_t number) {
  return number <= last_of_catalogue
             ? "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"
             : "open-gpu-kernel-modules 595.45.04, nverror.h";
}

Action recovery_action(std::string_view words) {
  struct Row {
    std::string_view words;
    Action action;
  };
  // open-gpu-kernel-modules, gpu.c (_gpuRecoveryActionName), 565.57.01 to 595.45.04
  static constexpr std::array<Row, 6> rows = {
      {{"None", Action::observe},
       {"GPU Reset Required", Action::reset_gpu},
       {"Node Reboot Required", Action::reboot},
       {"Drain P2P", Action::drain_p2p},
       {"Drain and Reset", Action::reset_gpu},
       {"Recover IMEX Domain", Action::recover_imex_domain}}};
  const auto* row = std::ranges::find(rows, words, &Row::words);
  return row == rows.end() ? Action::contact_vendor : row->action;
}

std::string_view xid_name(std::uint64_t number) {
  if (number == 0) return "No Error";
  const Xid* row = find_xid(number);
  return row == nullptr || row->text == "Unused" ? "Unknown Error" : row->text;
}

}  // namespace stoker
