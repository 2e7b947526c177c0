// Verb `fabric ports`: the ports of this node's own RDMA cards. Needs no agent and no InfiniBand management rights.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <thread>

#include "base/duration.h"
#include "command_line.h"
#include "fabric/node_ports.h"
#include "model/wrap.h"
#include "os/rdma_ports.h"
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

void print_ports(const RdmaPorts& now, const std::vector<Finding>& findings) {
  for (const RdmaPort& port : now.ports) {
    fmt::print("{}", line_of(port));
    for (const auto& line : port.unread) fmt::print("  not read: {}\n", line);
  }
  for (const auto& line : now.unread) fmt::print("not read: {}\n", line);
  if (!findings.empty()) fmt::print("\n{}", render_table(findings, table_style()));
  fmt::print("\n{} finding{}\n", findings.empty() ? "no" : std::to_string(findings.size()),
             findings.size() == 1 ? "" : "s");
}

int run(const FabricPortsFlags& flags) {
  const auto apart = parse_duration(flags.apart);
  if (!apart || *apart < Nanoseconds{0})
    return complain(fmt::format("--for {}: a duration, e.g. 5s or 5m", flags.apart));
  const auto env = os::make_system_env(flags.root, flags.root);
  os::RdmaPortReader reader(*env, {flags.left_out.begin(), flags.left_out.end()});
  const RdmaPorts before = reader.read();
  if (!before.problem.empty()) return complain(before.problem);
  if (before.ports.empty() && before.unread.empty()) {
    return complain(
        "there is no port below /sys/class/infiniband: the node has no RDMA card, its driver is "
        "not "
        "loaded, or all were left out");
  }
  const bool twice = *apart > Nanoseconds{0};
  if (twice) std::this_thread::sleep_for(*apart);
  const RdmaPorts now = twice ? reader.read() : before;
  const auto findings = fabric::judge_ports(now, twice ? &before : nullptr);
  if (flags.output == Output::table) {
    print_ports(now, findings);
  } else {
    print_document(fabric::ports_json(now, twice ? &before : nullptr, findings), flags.output);
  }
  const bool found = std::ranges::any_of(
      findings, [](const Finding& one) { return one.severity >= Severity::warning; });
  if (found) return exit_found;
  const bool all_read =
      now.problem.empty() && now.unread.empty() &&
      std::ranges::all_of(now.ports, [](const RdmaPort& port) { return port.unread.empty(); });
  return all_read ? exit_nothing_wrong : exit_could_not;
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
