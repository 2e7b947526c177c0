// Verb `topo`: how GPUs and NICs hang together. On a terminal the drawing, since a person reads it; into a
// pipe or file nvidia-smi's matrix, since a script that reads `nvidia-smi topo -m` does.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "api/topology_document.h"
#include "command_line.h"
#include "topology/drawing.h"
#include "topology/matrix.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* topo_examples = R"(Examples:
  stoker topo                        on a terminal the drawing, into a pipe the matrix
  stoker topo -m                     the matrix, byte for byte as `nvidia-smi topo -m` prints it
  stoker topo --draw | less          the drawing, with the NIC that each GPU should use
  stoker topo -o json | jq '.gpus[] | {row, nearest_nics}'

Exit codes: 0 printed, 2 no agent to ask.)";

struct TopoFlags {
  AgentFlags agent;
  Output output = Output::table;
  bool matrix = false;
  bool draw = false;
};

int run(const TopoFlags& flags) {
  const auto document = ask_agent(flags.agent, "/api/v1/topology");
  if (!document) return complain(document.error().describe());
  if (flags.output != Output::table) return print_document(*document, flags.output);
  const auto topology = api::read_topology(*document);
  if (!topology) return complain(topology.error().describe());
  const bool draw = flags.draw || (!flags.matrix && ::isatty(STDOUT_FILENO) == 1);
  fmt::print("{}", draw ? topology::drawing(*topology) : topology::matrix(*topology));
  return exit_nothing_wrong;
}

}  // namespace

void add_topo_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<TopoFlags>();
  CLI::App* verb = app.add_subcommand("topo", "Show how GPUs and NICs are connected");
  add_agent_flags(*verb, flags->agent);
  CLI::Option* output = add_output_flag(*verb, flags->output, "table|json|yaml");
  CLI::Option* matrix = verb->add_flag("-m,--matrix", flags->matrix, "nvidia-smi's matrix");
  matrix->excludes(output);
  verb->add_flag("-d,--draw", flags->draw, "A drawing, and which NIC each GPU should use")
      ->excludes(matrix)
      ->excludes(output);
  verb->footer(topo_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
