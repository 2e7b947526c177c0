// Verb `fabric ports`: the ports of this node's own RDMA cards. Needs no agent and no InfiniBand management rights.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>

#include "base/duration.h"
#include "command_line.h"
#include "fabric/node_ports.h"
#include "fabric/roce_ports.h"
#include "model/wrap.h"
#include "os/packet_filter.h"
#include "os/rdma_ports.h"
#include "os/roce_reader.h"
#include "os/system_env.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* fabric_ports_examples = R"(Examples:
  stoker fabric ports                    states, rates, and what is counted within five seconds
  stoker fabric ports --for 5m           what is counted within five minutes
  stoker fabric ports --for 0s           one look: states and rates alone
  stoker fabric ports --leave-out mlx5_4,mlx5_5
                                         cards that nobody uses, or whose reading makes the kernel log errors
  stoker fabric ports -o json | jq '.ports[] | {device, rate, counted}'

Below RoCE ports: flow control (PFC, pause), priorities, ECN, `ethtool -S`, and the kernel's packet filter; not with --root.
Counters are read and never cleared; what they held before the first look has no time, and is not judged.
Exit codes: 0 nothing worth a warning, 1 a warning or worse, 2 something could not be read, or wrong usage.)";

struct FabricPortsFlags {
  std::string root = "/";
  std::string apart = "5s";
  std::vector<std::string> left_out;
  Output output = Output::table;
};

std::string line_of(const RdmaPort& port) {
  return printable(fmt::format("{:<16} {:<10} {:<8} {:<10} {}", fabric::port_text(port),
                               port.link_layer.empty() ? "?" : port.link_layer,
                               port.state.empty() ? "?" : port.state,
                               port.physical.empty() ? "?" : port.physical, port.rate)) +
         "\n";
}

// One look at the node, or the later of two.
struct NodeLook {
  RdmaPorts ports;
  RoceLook roce;
};

// Files of another root are those of another machine, of which this one's kernel knows nothing.
os::NetdevQuestions questions_for(const FabricPortsFlags& flags) {
  if (flags.root == "/") return os::kernel_questions();
  const auto no = [] { return fail(ErrorCode::not_supported, "not looked at with --root"); };
  return {.dcb = [no](const std::string&) -> Result<DcbSettings> { return no(); },
          .pause = [no](const std::string&) -> Result<PauseSettings> { return no(); },
          .counters = [no](const std::string&, const os::WantedName&) -> Result<os::NamedCounters> {
            return no();
          }};
}

fabric::FilterLook look_at_packet_filter(const os::Env& env, const FabricPortsFlags& flags) {
  if (flags.root != "/") return fabric::look_at_filter({}, "not looked at with --root", {}, {});
  constexpr auto patience = std::chrono::seconds(10);
  const auto text = os::read_packet_filter(env, os::find_packet_filter_tools(), patience);
  return fabric::look_at_filter(text.nft, text.nft_reason, text.legacy, text.legacy_reason);
}

// Only packets of software RoCE go through the kernel's filter.
bool filter_matters(const fabric::RoceLooks& looks) {
  return looks.filter != nullptr &&
         std::ranges::any_of(looks.roce.netdevs, [](const auto& one) { return one.software; });
}

void print_ports(const fabric::RoceLooks& looks, const std::vector<Finding>& findings) {
  for (const RdmaPort& port : looks.ports.ports) {
    fmt::print("{}", line_of(port));
    for (const auto& line : port.unread) fmt::print("  not read: {}\n", line);
  }
  for (const auto& line : looks.ports.unread) fmt::print("not read: {}\n", line);
  for (const auto& line : looks.roce.unread) fmt::print("not read: {}\n", printable(line));
  if (!looks.roce.netdevs.empty()) fmt::print("\n");
  for (const RoceNetdev& netdev : looks.roce.netdevs) {
    const auto text = fabric::roce_text(netdev, fabric::ports_on(netdev, looks.ports));
    fmt::print("{:<16} {}\n", printable(netdev.netdev), printable(text));
    for (const auto& line : netdev.unread) fmt::print("  not read: {}\n", printable(line));
  }
  if (filter_matters(looks)) {
    for (const auto& line : looks.filter->unread)
      fmt::print("packet filter not looked at: {}\n", printable(line));
  }
  if (!findings.empty()) fmt::print("\n{}", render_table(findings, table_style()));
  fmt::print("\n{} finding{}\n", findings.empty() ? "no" : std::to_string(findings.size()),
             findings.size() == 1 ? "" : "s");
}

std::vector<Finding> judge_node(const fabric::RoceLooks& looks) {
  auto findings = fabric::judge_ports(looks.ports, looks.ports_before);
  std::ranges::move(fabric::judge_roce(looks), std::back_inserter(findings));
  std::ranges::sort(findings, [](const Finding& a, const Finding& b) {
    return std::tie(b.severity, a.entity, a.rule) < std::tie(a.severity, b.entity, b.rule);
  });
  return findings;
}

int exit_code_of(const fabric::RoceLooks& looks, const std::vector<Finding>& findings) {
  const bool found = std::ranges::any_of(
      findings, [](const Finding& one) { return one.severity >= Severity::warning; });
  if (found) return exit_found;
  const auto is_whole = [](const auto& one) { return one.unread.empty(); };
  const bool all_read = looks.ports.problem.empty() && looks.ports.unread.empty() &&
                        looks.roce.unread.empty() &&
                        std::ranges::all_of(looks.ports.ports, is_whole) &&
                        std::ranges::all_of(looks.roce.netdevs, is_whole) &&
                        (!filter_matters(looks) || is_whole(*looks.filter));
  return all_read ? exit_nothing_wrong : exit_could_not;
}

int run(const FabricPortsFlags& flags) {
  const auto apart = parse_duration(flags.apart);
  if (!apart || *apart < Nanoseconds{0})
    return complain(fmt::format("--for {}: a duration, e.g. 5s or 5m", flags.apart));
  const auto env = os::make_system_env(flags.root, flags.root);
  os::RdmaPortReader reader(*env, {flags.left_out.begin(), flags.left_out.end()});
  os::RoceReader roce_reader(*env, questions_for(flags), fabric::is_roce_counter);
  const auto look = [&] {
    NodeLook out{.ports = reader.read(), .roce = {}};
    out.roce = roce_reader.read(out.ports);
    return out;
  };
  const NodeLook before = look();
  if (!before.ports.problem.empty()) return complain(before.ports.problem);
  if (before.ports.ports.empty() && before.ports.unread.empty()) {
    return complain(
        "there is no port below /sys/class/infiniband: the node has no RDMA card, its driver is "
        "not loaded, or all were left out");
  }
  const bool twice = *apart > Nanoseconds{0};
  if (twice) std::this_thread::sleep_for(*apart);
  const NodeLook now = twice ? look() : before;
  const auto filter = now.roce.netdevs.empty() ? std::optional<fabric::FilterLook>()
                                               : std::optional(look_at_packet_filter(*env, flags));
  const fabric::RoceLooks looks{.ports = now.ports,
                                .roce = now.roce,
                                .ports_before = twice ? &before.ports : nullptr,
                                .roce_before = twice ? &before.roce : nullptr,
                                .filter = filter ? &*filter : nullptr};
  const auto findings = judge_node(looks);
  if (flags.output == Output::table) {
    print_ports(looks, findings);
  } else {
    print_document(fabric::ports_json(now.ports, looks.ports_before, findings, &looks),
                   flags.output);
  }
  return exit_code_of(looks, findings);
}

}  // namespace

void add_fabric_ports_verb(CLI::App& fabric, int& exit_code) {
  auto flags = std::make_shared<FabricPortsFlags>();
  CLI::App* verb = fabric.add_subcommand("ports", "Look at the ports of this node's RDMA cards");
  verb->add_option("--for", flags->apart, "Look twice, so long apart; 0s: once")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_option("--leave-out", flags->left_out, "Devices that are not read at all")
      ->delimiter(',')
      ->type_name("DEVICE,…");
  verb->add_option("--root", flags->root, "Look at this folder as a node's /")->type_name("DIR");
  add_output_flag(*verb, flags->output, "table|json|yaml");
  verb->footer(fabric_ports_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
