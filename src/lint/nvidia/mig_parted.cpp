// mig-parted's configuration: what it refuses, and what no GPU can be cut into.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>

#include "base/closest.h"
#include "base/text.h"
#include "lint/nvidia/mig_board.h"
#include "lint/nvidia/report.h"

namespace stoker::lint {
namespace {

constexpr auto entry_keys =
    std::to_array<std::string_view>({"device-filter", "devices", "mig-enabled", "mig-devices"});

void report_mig_key(const yaml::Node& key, std::span<const std::string_view> known,
                    NvidiaReport& report) {
  std::vector<std::string> names(known.begin(), known.end());
  const auto meant = did_you_mean(key.text, names);
  report.add(
      "mig-parted-key", key,
      fmt::format("mig-parted takes no '{}' here{}", key.text, meant.empty() ? "" : "; " + meant));
}

std::vector<const yaml::Node*> values_of(const yaml::Node* node) {
  std::vector<const yaml::Node*> values;
  if (node == nullptr) return values;
  if (node->kind == yaml::Node::Kind::scalar) return {node};
  values.reserve(node->items.size());
  for (const auto& item : node->items) values.push_back(&item);
  return values;
}

// "0x233010DE", and since 0.15 "0x233010DE:0x16C110DE".
bool is_filter(std::string_view text) {
  if (text.size() == 21 && text[10] == ':') {
    return is_filter(text.substr(0, 10)) && text.substr(11, 2) == "0x" &&
           std::ranges::all_of(text.substr(13), [](char c) { return hex_digit(c) >= 0; });
  }
  if (text.size() != 10 || !(text.starts_with("0x") || text.starts_with("0X"))) return false;
  if (!std::ranges::all_of(text.substr(2), [](char c) { return hex_digit(c) >= 0; })) return false;
  const auto vendor = text.substr(6);
  return vendor == "10DE" || vendor == "10de";
}

std::string device_id(std::string_view filter) {
  std::string id(filter.substr(2, 4));
  for (auto& c : id) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return id;
}

// Boards that the entry is about; every board where it has no filter, none where one of its filters is unknown.
std::vector<const MigBoard*> boards_of(const yaml::Node& entry, NvidiaReport& report) {
  std::vector<const MigBoard*> boards;
  const auto filters = values_of(child_of(entry, "device-filter"));
  std::set<std::string> ids;
  for (const auto* filter : filters) {
    if (!is_filter(filter->text)) {
      report.add("mig-parted-filter", *filter,
                 fmt::format("'{}' is not 0x, four digits of the device and 10DE", filter->text));
      return {};
    }
    ids.insert(device_id(filter->text));
  }
  for (const auto& board : mig_boards()) {
    const bool meant = ids.empty() || std::ranges::any_of(board.devices, [&](const auto& device) {
                         return ids.contains(device);
                       });
    if (meant) boards.push_back(&board);
  }
  for (const auto& id : ids) {
    const bool known = std::ranges::any_of(boards, [&](const MigBoard* board) {
      return std::ranges::find(board->devices, id) != board->devices.end();
    });
    if (!known) return {};
  }
  return boards;
}

// The profile of one line of mig-devices; nullopt: it is no name, or one that only newer boards may have.
std::optional<std::string> profile_of(const yaml::Node& key, NvidiaReport& report) {
  const auto name = MigName::parse(key.text);
  if (!name) {
    report.add("mig-profile-name", key, fmt::format("'{}' is no MIG profile", key.text));
    return std::nullopt;
  }
  const auto base = name->base();
  const bool known = std::ranges::any_of(
      mig_boards(), [&](const MigBoard& board) { return board.index_of(base).has_value(); });
  if (known) return name->compute == 0 ? std::optional(base) : std::nullopt;
  if (!may_be_newer(*name)) {
    std::vector<std::string> names;
    for (const auto& board : mig_boards()) {
      names.insert(names.end(), board.profiles.begin(), board.profiles.end());
    }
    const auto meant = did_you_mean(base, names);
    report.add("mig-profile-unknown", key,
               fmt::format("no board has {}{}", base, meant.empty() ? "" : "; " + meant));
  }
  return std::nullopt;
}

// "1g.10gb" and "1g.10gb+me" take from the same slices.
void check_mig_devices(const yaml::Node& entry, const yaml::Node& devices, NvidiaReport& report) {
  std::map<std::string, int> counts;
  bool complete = true;
  for (const auto& [key, value] : devices.entries) {
    const auto profile = profile_of(key, report);
    const int count = value.quoted ? 0 : whole_number<int>(value.text).value_or(0);
    if (count < 1) {
      report.add(
          "mig-parted-value", value,
          fmt::format("a count of {} is a number of 1 and more, not '{}'", key.text, value.text));
    }
    complete = complete && profile && count >= 1;
    if (complete) counts[*profile] = std::min(counts[*profile] + std::min(count, 1000), 1000);
  }
  const auto boards = boards_of(entry, report);
  if (!complete || counts.empty() || boards.empty()) return;
  std::string why;
  std::size_t nearest = 0;
  for (const auto* board : boards) {
    const auto reason = why_not(*board, counts);
    if (reason.empty()) return;
    // What a board that has all the names says is worth more than that another one lacks some.
    std::size_t has = 1;
    for (const auto& [base, count] : counts) has += board->index_of(base) ? 1 : 0;
    if (has > nearest) {
      nearest = has;
      why = reason;
    }
  }
  report.add("mig-does-not-fit", devices, fmt::format("no GPU takes these together: {}", why));
}

void check_devices(const yaml::Node& devices, NvidiaReport& report) {
  if (devices.kind == yaml::Node::Kind::scalar) {
    if (devices.text != "all") {
      report.add("mig-parted-value", devices,
                 fmt::format("devices is all or a list of numbers, not '{}'", devices.text));
    }
    return;
  }
  for (const auto& item : devices.items) {
    if (item.quoted || !whole_number<int>(item.text)) {
      report.add("mig-parted-value", item,
                 fmt::format("a device is a number, not '{}'", item.text));
    }
  }
}

void check_entry(const yaml::Node& entry, NvidiaReport& report) {
  if (entry.kind != yaml::Node::Kind::map) {
    report.add("mig-parted-required", entry, "an entry is a map of devices and mig-enabled");
    return;
  }
  for (const auto& [key, value] : entry.entries) {
    if (std::ranges::find(entry_keys, key.text) == entry_keys.end()) {
      report_mig_key(key, entry_keys, report);
    }
  }
  const auto* devices = child_of(entry, "devices");
  const auto* enabled = child_of(entry, "mig-enabled");
  const auto* mig_devices = child_of(entry, "mig-devices");
  if (devices == nullptr) report.add("mig-parted-required", entry, "the entry has no devices");
  if (enabled == nullptr) report.add("mig-parted-required", entry, "the entry has no mig-enabled");
  if (devices != nullptr) check_devices(*devices, report);
  if (enabled == nullptr) return;
  if (!is_yes_no(*enabled)) {
    report.add("mig-parted-value", *enabled, "mig-enabled is true or false, without quotes");
    return;
  }
  if (is_yes(enabled) && (mig_devices == nullptr || mig_devices->empty())) {
    report.add("mig-parted-required", *enabled,
               "mig-enabled is true without mig-devices; {} leaves it empty");
  }
  if (mig_devices == nullptr) return;
  if (!is_yes(enabled) && !mig_devices->entries.empty()) {
    report.add("mig-parted-value", *mig_devices, "mig-devices stand where mig-enabled is false");
  }
  if (mig_devices->kind == yaml::Node::Kind::map) check_mig_devices(entry, *mig_devices, report);
}

// An entry for all GPUs without a filter undoes what stands before it.
void check_overridden(const yaml::Node& config, NvidiaReport& report) {
  for (std::size_t later = 1; later < config.items.size(); ++later) {
    const auto& entry = config.items[later];
    const auto* devices = child_of(entry, "devices");
    if (devices == nullptr || devices->text != "all") continue;
    if (child_of(entry, "device-filter") != nullptr) continue;
    report.add(
        "mig-parted-overridden", config.items[later - 1],
        fmt::format("the entry in line {} is for all GPUs and sets these anew", entry.place.line));
    return;
  }
}

}  // namespace

void check_mig_parted(const yaml::Node& root, NvidiaReport& report) {
  constexpr auto top_keys = std::to_array<std::string_view>({"version", "mig-configs"});
  const auto* version = child_of(root, "version");
  if (version == nullptr || version->text != "v1") {
    report.add("mig-parted-version", version == nullptr ? root : *version,
               version == nullptr ? "there is no version"
                                  : fmt::format("version is '{}', not v1", version->text));
  }
  for (const auto& [key, value] : root.entries) {
    if (std::ranges::find(top_keys, key.text) == top_keys.end()) {
      report_mig_key(key, top_keys, report);
    }
  }
  const auto* configs = child_of(root, "mig-configs");
  if (configs == nullptr) return;
  if (configs->entries.empty()) {
    report.add("mig-parted-required", *configs, "mig-configs has no configuration");
  }
  for (const auto& [name, config] : configs->entries) {
    if (config.kind != yaml::Node::Kind::list || config.items.empty()) {
      report.add("mig-parted-required", name,
                 fmt::format("'{}' is a list of one entry or more", name.text));
      continue;
    }
    for (const auto& entry : config.items) check_entry(entry, report);
    check_overridden(config, report);
  }
}

}  // namespace stoker::lint
