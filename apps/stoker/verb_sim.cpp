// Verb `sim`: makes a simulated node, breaks it, heals it, and says how outside programs run on it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/closest.h"
#include "base/json_text.h"
#include "command_line.h"
#include "device/simnode/sim_node.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* sim_examples = R"(Examples:
  stoker sim node hgx-h100 --data /tmp/node        make one without running an agent
  stoker sim inject --data /tmp/node xid 79 --gpu 3
  stoker sim show --data /tmp/node
  stoker sim clear --data /tmp/node

A node that `stoker up --sim PROFILE --data DIR` runs is broken and healed in the same way, while it runs.
Exit codes: 0 done, 1 the node refuses what a real card would refuse, 2 could not, or wrong usage.)";

constexpr const char* node_examples = R"(Examples:
  stoker sim node hgx-h100 --data /tmp/node
  stoker sim node --machine lab.yaml --data /tmp/node --catalog my-products
  stoker sim node hgx-h100 --data /tmp/node --driver 535.54.03

Files of --catalog stand before the built-in products and profiles of the same name.
Exit codes: 0 made (or there already), 2 the machine is wrong or the folder holds another node.)";

constexpr const char* sim_show_examples = R"TEXT(Examples:
  stoker sim show --data /tmp/node
  eval "$(stoker sim show --data /tmp/node --environment)"; nvtop
  stoker sim show --data /tmp/node -o json | jq '.simulations[0].gpus[].faults'

Exit codes: 0 shown, 2 there is no simulated node.)TEXT";

constexpr const char* load_examples = R"(Examples:
  stoker sim load training --data /tmp/node --gpu all
  stoker sim load hung --data /tmp/node --gpu 2

Exit codes: 0 done, 2 there is no such load, GPU or node.)";

constexpr const char* clear_examples = R"(Examples:
  stoker sim clear --data /tmp/node              everything, the driver too
  stoker sim clear --data /tmp/node --gpu 3

What was counted (ECC errors, remapped rows, link errors) has happened and stays.
Exit codes: 0 done, 2 there is no such GPU or node.)";

struct NodeFlags {
  simnode::Recipe recipe;
  std::string data;
};

struct InjectFlags {
  simnode::FaultRequest fault;
  std::string data;
};

struct SimShowFlags {
  std::string data;
  Output output = Output::table;
  bool environment = false;
};

struct GpuFlags {
  std::string data;
  std::string gpu = "all";
  std::string load;
};

void add_data_flag(CLI::App& verb, std::string& data) {
  verb.add_option("--data", data, "The folder of the node (or $STOKER_DATA)")
      ->required()
      ->envname("STOKER_DATA")
      ->type_name("DIR");
}

// What a card would refuse too is found, not wrong usage.
int complain_of(const Error& error) {
  complain(error.describe());
  const bool refused =
      error.code() == ErrorCode::unavailable || error.code() == ErrorCode::not_supported;
  return refused ? exit_found : exit_could_not;
}

int say(const Result<std::string>& outcome) {
  if (!outcome) return complain_of(outcome.error());
  fmt::print("{}\n", *outcome);
  return exit_nothing_wrong;
}

// As one word of a shell; a plain word stays as it is.
std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+:@%=,";
  if (text.find_first_not_of(plain) == std::string::npos) return text;
  std::string word = "'";
  for (const char letter : text) word += letter == '\'' ? "'\\''" : std::string(1, letter);
  return word + "'";
}

// The lines that let a client of NVML run on the node.
std::string environment_lines(const simnode::SimReport& report) {
  std::string lines = fmt::format("export STOKER_SIM_STATE={}\n", shell_word(report.state_file));
  if (const auto folder = simnode::library_folder()) {
    lines += fmt::format("export LD_LIBRARY_PATH={}\n", shell_word(*folder));
  } else {
    lines += fmt::format("# {}\n", folder.error().message());
  }
  return lines;
}

std::string gpu_line(const simnode::SimGpu& gpu) {
  std::string line =
      fmt::format("{:>3}  {}  {:<24} {:<10}", gpu.index, gpu.pci.sysfs(), gpu.name, gpu.load);
  line += gpu.faults.empty() ? " ok" : " " + fmt::format("{}", fmt::join(gpu.faults, "; "));
  line += fmt::format("\n     {}", gpu.uuid);
  if (!gpu.migs.empty()) line += fmt::format("\n     MIG {}", fmt::join(gpu.migs, ", "));
  if (!gpu.pids.empty()) line += fmt::format("\n     processes {}", fmt::join(gpu.pids, ", "));
  return line;
}

void print_table(const simnode::SimReport& report) {
  fmt::print("{}: simulated, driver {}{}\n", report.profile, report.driver_version,
             report.faults.empty() ? "" : fmt::format(", {}", fmt::join(report.faults, ", ")));
  fmt::print("{}GPU  PCI           product                  load       faults\n",
             "Clients of NVML run on it with\n" + environment_lines(report) +
                 "Its devices' files are below " + report.root + "\n\n");
  for (const auto& gpu : report.gpus) fmt::print("{}\n", gpu_line(gpu));
}

void write_words(JsonWriter& json, std::string_view key, const std::vector<std::string>& words) {
  json.key(key).begin_array();
  for (const auto& word : words) json.value(word);
  json.end_array();
}

void write_gpu(JsonWriter& json, const simnode::SimGpu& gpu) {
  json.begin_object();
  json.member("index", gpu.index).member("uuid", gpu.uuid).member("pci", gpu.pci.sysfs());
  json.member("product", gpu.product).member("name", gpu.name).member("load", gpu.load);
  write_words(json, "faults", gpu.faults);
  write_words(json, "mig_instances", gpu.migs);
  json.key("pids").begin_array();
  for (const unsigned pid : gpu.pids) json.value(pid);
  json.end_array().end_object();
}

std::string to_json(const simnode::SimReport& report) {
  const auto folder = simnode::library_folder();
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/simulation");
  json.key("simulations").begin_array().begin_object();
  json.member("profile", report.profile).member("driver_version", report.driver_version);
  json.member("state_file", report.state_file).member("root", report.root);
  if (folder) {
    json.member("library_folder", *folder);
  } else {
    json.key("library_folder").null().member("library_folder_reason", folder.error().message());
  }
  write_words(json, "faults", report.faults);
  json.key("gpus").begin_array();
  for (const auto& gpu : report.gpus) write_gpu(json, gpu);
  json.end_array().end_object().end_array().end_object();
  return json.text();
}

int make_node(const NodeFlags& flags) {
  const auto node = simnode::SimNode::create(flags.recipe, flags.data);
  if (!node) return complain_of(node.error());
  const auto report = node->report();
  fmt::print("{}: {} simulated GPUs below {}/sim\n{}", report.profile, report.gpus.size(),
             flags.data, environment_lines(report));
  return exit_nothing_wrong;
}

int inject(const InjectFlags& flags) {
  auto node = simnode::SimNode::open(flags.data);
  return node ? say(node->inject(flags.fault)) : complain_of(node.error());
}

int show_sim(const SimShowFlags& flags) {
  const auto node = simnode::SimNode::open(flags.data);
  if (!node) return complain_of(node.error());
  const auto report = node->report();
  if (flags.environment) {
    fmt::print("{}", environment_lines(report));
  } else if (flags.output == Output::table) {
    print_table(report);
  } else {
    return print_document(to_json(report), flags.output);
  }
  return exit_nothing_wrong;
}

int clear(const GpuFlags& flags) {
  auto node = simnode::SimNode::open(flags.data);
  return node ? say(node->clear(flags.gpu)) : complain_of(node.error());
}

int load(const GpuFlags& flags) {
  auto node = simnode::SimNode::open(flags.data);
  return node ? say(node->set_load(flags.load, flags.gpu)) : complain_of(node.error());
}

std::string fault_list() {
  std::string text = "Faults:\n";
  for (const auto& fault : simnode::faults()) {
    text += fmt::format("  {}\n      {}\n      e.g. {}\n", fault.usage, fault.help, fault.example);
  }
  return text +
         "\nN is an index, a UUID, a PCI address or all; 0 if left out. A library that runs on the "
         "node sees a fault in its next call.\n"
         "Exit codes: 0 done, 1 the node refuses what a real card would refuse, 2 could not, or "
         "wrong "
         "usage.";
}

void add_node(CLI::App& verb, int& exit_code) {
  auto flags = std::make_shared<NodeFlags>();
  CLI::App* node = verb.add_subcommand("node", "Make a simulated node without running it");
  node->add_option("PROFILE", flags->recipe.profile,
                   "A built-in profile: " + listed(simnode::profile_names()))
      ->type_name("");
  node->add_option("--machine", flags->recipe.machine_file, "A machine of your own, in YAML")
      ->type_name("FILE");
  node->add_option("--catalog", flags->recipe.catalog_folder,
                   "Folder with products and profiles of your own")
      ->type_name("DIR");
  node->add_option("--driver", flags->recipe.driver_version, "What the driver calls itself")
      ->type_name("VERSION");
  add_data_flag(*node, flags->data);
  node->footer(node_examples);
  node->callback([flags, &exit_code] { exit_code = make_node(*flags); });
}

void add_inject(CLI::App& verb, int& exit_code) {
  auto flags = std::make_shared<InjectFlags>();
  CLI::App* one = verb.add_subcommand("inject", "Break a simulated node");
  one->add_option("FAULT", flags->fault.name, "What to break; see below")
      ->required()
      ->type_name("");
  one->add_option("ARGUMENTS", flags->fault.args, "What the fault takes")->type_name("");
  one->add_option("--gpu", flags->fault.gpu, "Which GPU")->type_name("N");
  one->add_option("--call", flags->fault.call, "One NVML function instead of all")
      ->type_name("NAME");
  one->add_option("--delay", flags->fault.delay, "How much longer calls take")->type_name("TIME");
  one->add_option("--return", flags->fault.return_code, "What calls answer")->type_name("CODE");
  one->add_option("--link", flags->fault.link, "NVLink number")->type_name("N");
  add_data_flag(*one, flags->data);
  one->footer(fault_list());
  one->callback([flags, &exit_code] { exit_code = inject(*flags); });
}

void add_sim_show(CLI::App& verb, int& exit_code) {
  auto flags = std::make_shared<SimShowFlags>();
  CLI::App* one = verb.add_subcommand("show", "Say what is so, and how clients run on it");
  add_data_flag(*one, flags->data);
  CLI::Option* output = add_output_flag(*one, flags->output, "table|json|yaml|jsonl");
  one->add_flag("--environment", flags->environment, "Only the lines for a shell to evaluate")
      ->excludes(output);
  one->footer(sim_show_examples);
  one->callback([flags, &exit_code] { exit_code = show_sim(*flags); });
}

void add_clear(CLI::App& verb, int& exit_code) {
  auto flags = std::make_shared<GpuFlags>();
  CLI::App* one = verb.add_subcommand("clear", "Take faults back");
  one->add_option("--gpu", flags->gpu, "Which GPU; all if left out")->type_name("N");
  add_data_flag(*one, flags->data);
  one->footer(clear_examples);
  one->callback([flags, &exit_code] { exit_code = clear(*flags); });
}

void add_load(CLI::App& verb, int& exit_code) {
  auto flags = std::make_shared<GpuFlags>();
  CLI::App* one = verb.add_subcommand("load", "Give GPUs something to do");
  one->add_option("KIND", flags->load, "One of " + listed(simnode::load_kinds()))
      ->required()
      ->type_name("");
  one->add_option("--gpu", flags->gpu, "Which GPU; all if left out")->type_name("N");
  add_data_flag(*one, flags->data);
  one->footer(load_examples);
  one->callback([flags, &exit_code] { exit_code = load(*flags); });
}

}  // namespace

void add_sim_verb(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand("sim", "Make, break and heal simulated nodes");
  verb->require_subcommand(1);
  verb->footer(sim_examples);
  add_node(*verb, exit_code);
  add_inject(*verb, exit_code);
  add_sim_show(*verb, exit_code);
  add_clear(*verb, exit_code);
  add_load(*verb, exit_code);
}

}  // namespace stoker::app
