// The device plugin's configuration: what it refuses, what it ignores.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/closest.h"
#include "base/text.h"
#include "lint/nvidia/report.h"

namespace stoker::lint {
namespace {

struct PluginKey {
  std::string_view path;
  std::string_view values;
};
constexpr auto plugin_keys = std::to_array<PluginKey>({
#define STOKER_DEVICE_PLUGIN_KEY(path, values) {path, values},
#include "lint/nvidia/device_plugin_keys.def"
#undef STOKER_DEVICE_PLUGIN_KEY
});

std::string joined(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string_view last_part(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

bool has_value(std::string_view values, std::string_view value) {
  while (!values.empty()) {
    const auto word = values.substr(0, values.find(' '));
    if (word == value) return true;
    values.remove_prefix(std::min(word.size() + 1, values.size()));
  }
  return false;
}

// Where a key belongs that stands elsewhere, or what it was meant to be.
void report_key(const yaml::Node& key, std::string_view path, NvidiaReport& report) {
  const auto* elsewhere = std::ranges::find_if(
      plugin_keys, [&](const PluginKey& known) { return last_part(known.path) == key.text; });
  if (elsewhere != plugin_keys.end()) {
    report.add("device-plugin-key", key,
               fmt::format("'{}' has no effect here; it belongs to {}", key.text, elsewhere->path));
    return;
  }
  std::vector<std::string> siblings;
  for (const auto& known : plugin_keys) {
    if (joined(path, last_part(known.path)) == known.path) {
      siblings.emplace_back(last_part(known.path));
    }
  }
  const auto meant = did_you_mean(key.text, siblings);
  report.add("device-plugin-key", key,
             fmt::format("the device plugin reads no '{}' here{}", key.text,
                         meant.empty() ? "" : "; " + meant));
}

// Does envsubst or Flux write the value, "${REPLICAS:=4}"?
bool is_substituted(const yaml::Node& node) { return node.text.find("${") != std::string::npos; }

// Lists stand for the words that they hold, as deviceListStrategy may.
void check_plugin_value(const yaml::Node& value, const PluginKey& key, NvidiaReport& report) {
  if (value.kind == yaml::Node::Kind::list && last_part(key.path) == "deviceListStrategy") {
    for (const auto& item : value.items) check_plugin_value(item, key, report);
    return;
  }
  if (value.kind != yaml::Node::Kind::scalar || value.empty() || is_substituted(value)) return;
  if (key.path == "version") {
    if (value.text != "v1") {
      report.add("device-plugin-version", value,
                 fmt::format("version is '{}', not v1", value.text));
    }
    return;
  }
  const bool fits = key.values.empty() ||
                    (key.values == "yes-no" ? is_yes_no(value) : has_value(key.values, value.text));
  if (fits) return;
  report.add(
      "device-plugin-value", value,
      key.values == "yes-no"
          ? fmt::format("{} is true or false, without quotes", last_part(key.path))
          : fmt::format("{} is one of {}, not '{}'", last_part(key.path), key.values, value.text));
}

void check_keys(const yaml::Node& node, const std::string& path, NvidiaReport& report) {
  if (node.kind == yaml::Node::Kind::list) {
    for (const auto& item : node.items) {
      if (item.kind == yaml::Node::Kind::map) check_keys(item, path + "[]", report);
    }
    return;
  }
  for (const auto& [key, value] : node.entries) {
    const std::string below = joined(path, key.text);
    const auto* known = std::ranges::find(plugin_keys, below, &PluginKey::path);
    if (known == plugin_keys.end()) {
      report_key(key, path, report);
      continue;
    }
    check_plugin_value(value, *known, report);
    if (value.kind != yaml::Node::Kind::scalar && known->values.empty()) {
      check_keys(value, below, report);
    }
  }
}

void check_replicas(const yaml::Node& resource, NvidiaReport& report) {
  const auto* replicas = child_of(resource, "replicas");
  if (replicas == nullptr) {
    report.add("device-plugin-sharing", resource, "a shared resource says no replicas");
    return;
  }
  if (is_substituted(*replicas)) return;
  const auto number = whole_number<long long>(replicas->text);
  if (!number || *number < 2 || replicas->quoted) {
    report.add("device-plugin-sharing", *replicas,
               fmt::format("replicas is a number of 2 or more, not '{}'", replicas->text));
  }
}

void check_shared(const yaml::Node& resource, bool by_mps, NvidiaReport& report) {
  const auto* name = child_of(resource, "name");
  if (name == nullptr || name->empty()) {
    report.add("device-plugin-sharing", resource, "a shared resource has no name");
  } else if (by_mps && name->text.find("mig-") != std::string::npos) {
    report.add("device-plugin-mps-mig", *name,
               fmt::format("'{}' is a MIG resource, which MPS does not share", name->text));
  }
  check_replicas(resource, report);
  if (const auto* rename = child_of(resource, "rename"); rename != nullptr && !rename->empty()) {
    report.add(
        "device-plugin-ignored", *rename,
        "rename is set back: the resource keeps its name, or gets .shared by renameByDefault");
  }
  const auto* devices = child_of(resource, "devices");
  if (devices != nullptr && devices->text != "all") {
    report.add("device-plugin-ignored", *devices, "devices is set back to all");
  }
}

void check_sharing(const yaml::Node& root, const yaml::Node& sharing, NvidiaReport& report) {
  const auto* slices = child_of(sharing, "timeSlicing");
  const auto* mps = child_of(sharing, "mps");
  if (slices != nullptr && mps != nullptr && !slices->entries.empty() && !mps->entries.empty()) {
    report.add("device-plugin-mps-hides", *slices,
               "timeSlicing is not looked at, since mps is there");
  }
  for (const auto* way : {slices, mps}) {
    if (way == nullptr || way->kind != yaml::Node::Kind::map) continue;
    const auto* resources = child_of(*way, "resources");
    if (resources == nullptr || resources->items.empty()) {
      report.add("device-plugin-sharing", resources == nullptr ? *way : *resources,
                 "sharing names no resources");
      continue;
    }
    for (const auto& resource : resources->items) check_shared(resource, way == mps, report);
  }
  const auto* flags = child_of(root, "flags");
  const auto* strategy = flags == nullptr ? nullptr : child_of(*flags, "migStrategy");
  if (mps != nullptr && strategy != nullptr && strategy->text == "mixed") {
    report.add("device-plugin-mps-mig", *strategy, "MPS can't be used with migStrategy mixed");
  }
}

// `resources` that only say what is so anyway do no harm.
void check_resources(const yaml::Node& resources, NvidiaReport& report) {
  for (const auto* list : {child_of(resources, "gpus"), child_of(resources, "mig")}) {
    if (list == nullptr) continue;
    for (const auto& item : list->items) {
      const auto* name = child_of(item, "name");
      if (name == nullptr || name->text == "nvidia.com/gpu" || name->text == "gpu" ||
          name->text.starts_with("nvidia.com/mig-") || name->text.starts_with("mig-")) {
        continue;
      }
      report.add(
          "device-plugin-ignored", *name,
          fmt::format("no resource is called '{}': resources is set back to nothing", name->text));
    }
  }
}

}  // namespace

void check_device_plugin(const yaml::Node& root, NvidiaReport& report) {
  check_keys(root, "", report);
  if (const auto* sharing = child_of(root, "sharing")) check_sharing(root, *sharing, report);
  if (const auto* resources = child_of(root, "resources")) check_resources(*resources, report);
}

}  // namespace stoker::lint
