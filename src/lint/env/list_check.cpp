// Lists of devices and interfaces, as NCCL's parseStringList() (src/misc/utils.cc) and Gloo cut and match them.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "lint/env/checks.h"

namespace stoker::lint {
namespace {

constexpr std::size_t most_hcas = 32;        // MAX_IB_DEVS, src/transport/net_ib/common.h
constexpr std::size_t most_interfaces = 16;  // MAX_IFS, src/include/socket.h

struct DeviceList {
  bool without = false;  // ^
  bool exact = false;    // =
  std::vector<std::string_view> items;
};

DeviceList parse_device_list(std::string_view text) {
  DeviceList list;
  list.without = text.starts_with('^');
  if (list.without) text.remove_prefix(1);
  list.exact = text.starts_with('=');
  if (list.exact) text.remove_prefix(1);
  list.items = list_items(text);
  return list;
}

std::string_view device_of(std::string_view item) { return item.substr(0, item.find(':')); }

// One finding at most of what makes an item match nothing; true: there was one.
bool has_broken_item(const Variable& variable, const DeviceList& list, EnvReport& report) {
  for (const auto item : list.items) {
    if (trimmed(item) != item) {
      report.add("nccl-list-blank", variable,
                 fmt::format("'{}' with its blank is the name of no device", item));
      return true;
    }
    if (item.starts_with('^') || item.starts_with('=')) {
      report.add("nccl-list-syntax", variable,
                 fmt::format("'{}' is taken as a name with that sign, which no device has", item));
      return true;
    }
  }
  if (list.items.empty()) {
    report.add("nccl-list-syntax", variable, "the list names nothing");
    return true;
  }
  return false;
}

void check_hcas(const Variable& variable, const DeviceList& list, EnvReport& report) {
  if (list.items.size() > most_hcas) {
    report.add("nccl-list-syntax", variable,
               fmt::format("NCCL takes {} devices and ignores the other {}", most_hcas,
                           list.items.size() - most_hcas));
  }
  for (const auto item : list.items) {
    const auto colon = item.find(':');
    if (colon == std::string_view::npos) continue;
    const auto port = item.substr(colon + 1);
    if (port.empty() || std::isdigit(static_cast<unsigned char>(port.front())) == 0) {
      report.add("nccl-list-syntax", variable,
                 fmt::format("the port of '{}' is no number, so no port matches", item));
    }
  }
  if (list.exact || list.without) return;
  // Hosts with ten devices and more are usual, with twenty they are not: mlx5_1 is the one that is hit.
  const auto hit = std::ranges::find_if(
      list.items, [](std::string_view item) { return device_of(item).ends_with("_1"); });
  const bool means_all = std::ranges::any_of(list.items, [&](std::string_view item) {
    return hit != list.items.end() && device_of(item).size() > device_of(*hit).size() &&
           device_of(item).starts_with(device_of(*hit));
  });
  if (hit != list.items.end() && !means_all && device_of(*hit).starts_with("mlx")) {
    report.add(
        "nccl-hca-prefix", variable,
        fmt::format("'{0}' also matches {0}0 to {0}9, where a host has them", device_of(*hit)));
  }
}

bool is_local(std::string_view interface) {
  return interface == "lo" || interface.starts_with("docker") || interface.starts_with("virbr");
}

// A job of one host may well use lo; where nobody knows, it is worth a word and no more.
void add_local(const Variable& variable, const EnvContext& context, std::string message,
               EnvReport& report) {
  if (context.several_hosts.has_value() && !*context.several_hosts) return;
  auto& finding = report.add("nccl-interface-local", variable, std::move(message));
  if (!context.several_hosts) {
    finding.severity = Severity::info;
    finding.message += ", if the job has more than one";
  }
}

void check_interfaces(const Variable& variable, const DeviceList& list, const EnvContext& context,
                      EnvReport& report) {
  if (list.items.size() > most_interfaces) {
    report.add("nccl-list-syntax", variable,
               fmt::format("NCCL takes {} interfaces and ignores the rest", most_interfaces));
  }
  if (list.without) {
    const auto covers_lo = [&](std::string_view item) {
      return list.exact ? item == "lo" : std::string_view("lo").starts_with(item);
    };
    if (std::ranges::none_of(list.items, covers_lo)) {
      add_local(variable, context,
                fmt::format("'{}' leaves lo among the interfaces that may be taken, which no other "
                            "host reaches",
                            *variable.value),
                report);
    }
    return;
  }
  if (!list.items.empty() && std::ranges::all_of(list.items, is_local)) {
    add_local(variable, context,
              fmt::format("'{}' can't be reached from other hosts", list.items.front()), report);
  }
}

void check_gloo(const Variable& variable, EnvReport& report) {
  for (const auto item : list_items(*variable.value)) {
    if (item.starts_with('^') || item.starts_with('=') || trimmed(item) != item) {
      report.add("gloo-interface", variable,
                 fmt::format("Gloo looks for an interface of the name '{}'", item));
      return;
    }
  }
}

}  // namespace

void check_list(const Variable& variable, const KnownVariable& known, const EnvContext& context,
                EnvReport& report) {
  if (known.kind == EnvKind::gloo_interfaces) return check_gloo(variable, report);
  if (known.kind != EnvKind::hcas && known.kind != EnvKind::interfaces) return;
  const auto list = parse_device_list(*variable.value);
  if (has_broken_item(variable, list, report)) return;
  if (known.kind == EnvKind::hcas) return check_hcas(variable, list, report);
  check_interfaces(variable, list, context, report);
}

}  // namespace stoker::lint
