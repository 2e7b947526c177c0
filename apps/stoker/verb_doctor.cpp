// Verb `doctor`: what is wrong with this node's set-up for GPU work, or with a container's; and whether it may restart.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/closest.h"
#include "base/text.h"
#include "command_line.h"
#include "doctor/claims.h"
#include "doctor/container.h"
#include "doctor/report.h"
#include "doctor/smi_text.h"
#include "doctor_node.h"
#include "event/log_file.h"
#include "os/system_env.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* doctor_examples = R"(Examples:
  sudo stoker doctor                     this node; inside a container, that container
  stoker doctor --all                    also what is fine, and what was seen
  stoker doctor --before-reboot          will it come back with its GPUs? go, no-go or unknown
  stoker doctor --after-reboot           has it come back with its GPUs?
  nvidia-smi -q | sudo stoker doctor --smi -
                                         also what only the driver tells: MIG pending, persistence mode
  stoker doctor --root /mnt/node7        a folder with a copy of a node's files, or a node's root in a pod
  stoker doctor --only dkms-build,next-kernel -o json
  stoker doctor --explain fabric-manager what a check looks at, and why
  stoker doctor --explain cuda-matrix    what handbooks say of it, and what is so
  stoker doctor --list                   all checks, and what is often said of them

Only files are read, nothing is started or changed. Without root some can't be, and are named as not looked at.
Exit codes: 0 nothing worth a warning in what could be looked at, 1 something, 2 nothing could be looked at, or
wrong usage. With --before-reboot and --after-reboot: 0 go, 1 no-go, 2 unknown.)";

struct DoctorFlags {
  std::string root = "/";
  std::vector<std::string> only;
  std::string as;
  std::string smi;
  std::string explain;
  bool all = false;
  bool list = false;
  bool before = false;
  bool after = false;
  Output output = Output::table;
};

bool belongs_to_gate(doctor::Gate gate, const DoctorFlags& flags) {
  if (gate == doctor::Gate::both) return true;
  return gate == (flags.before ? doctor::Gate::before : doctor::Gate::after);
}

// nullptr after a complaint.
const doctor::CheckRow* check_named(const std::string& id) {
  const auto* row = doctor::find_check(id);
  if (row != nullptr) return row;
  std::vector<std::string> ids;
  for (const auto& each : doctor::all_checks()) ids.emplace_back(each.id);
  const auto hint = did_you_mean(id, ids);
  complain(fmt::format("there is no check '{}'; {}", id,
                       hint.empty() ? "`stoker doctor --list` lists those that there are" : hint));
  return nullptr;
}

doctor::Context context_of(const DoctorFlags& flags, const os::Env& env, const doctor::Node& node) {
  doctor::Context context;
  constexpr std::size_t longest_name = 4096;
  const auto name = node.text("/etc/hostname", longest_name);
  context.node_name = flags.root == "/" ? env.hostname()
                      : name            ? std::string(trimmed(*name, " \t\n"))
                                        : flags.root;
  context.in_container =
      flags.as.empty() ? !doctor::sign_of_container(node).empty() : flags.as == "container";
  // A copy of files has no running kernel's uptime.
  context.is_live = flags.root == "/" || node.facts("/proc/uptime");
  context.gate = flags.before  ? doctor::Gate::before
                 : flags.after ? doctor::Gate::after
                               : doctor::Gate::none;
  context.no_driver_facts = "give it by --smi FILE, what `nvidia-smi -q` prints";
  return context;
}

// Adds what nvidia-smi printed; false after a complaint.
bool take_smi(const std::string& file, doctor::Context& context) {
  std::string text;
  constexpr std::size_t most = 16 << 20;
  const auto read = event::read_log_file(file, [&](std::string_view piece) {
    text += piece.substr(0, most - std::min(most, text.size()));
  });
  if (!read) {
    complain(read.error().message());
    return false;
  }
  context.cards = doctor::read_smi_text(text);
  if (context.cards.empty())
    complain(fmt::format("--smi: {} is not what `nvidia-smi -q` prints", file));
  return !context.cards.empty();
}

void print_verdict(doctor::Verdict verdict, const DoctorFlags& flags) {
  const char* question = flags.before ? "before the reboot" : "after the reboot";
  switch (verdict) {
    case doctor::Verdict::go:
      fmt::print("go: nothing found {} that takes the GPUs away\n", question);
      return;
    case doctor::Verdict::no_go: fmt::print("no-go: see the errors above\n"); return;
    case doctor::Verdict::unknown:
      fmt::print("unknown: nothing found {}, and not everything could be seen that it rests on\n",
                 question);
  }
}

int run_doctor(const DoctorFlags& flags) {
  if (flags.list) {
    fmt::print("{}", doctor::list_checks());
    return exit_nothing_wrong;
  }
  if (const auto* claim = doctor::find_claim(flags.explain); claim != nullptr) {
    fmt::print("{}", doctor::explain_claim(*claim, table_style().width));
    return exit_nothing_wrong;
  }
  if (!flags.explain.empty()) {
    const auto* row = check_named(flags.explain);
    if (row == nullptr) return exit_could_not;
    fmt::print("{}", doctor::explain_check(*row, table_style().width));
    return exit_nothing_wrong;
  }
  for (const auto& id : flags.only) {
    if (check_named(id) == nullptr) return exit_could_not;
  }
  const auto env = os::make_system_env(flags.root, flags.root);
  const auto node = make_doctor_node(*env);
  if (const auto top = node->names("/"); !top) return complain(top.error().message());
  auto context = context_of(flags, *env, *node);
  if (!flags.smi.empty() && !take_smi(flags.smi, context)) return exit_could_not;
  const bool gate = flags.before || flags.after;
  const auto results = doctor::examine(*node, context, [&](const doctor::CheckRow& row) {
    if (!flags.only.empty()) return std::ranges::find(flags.only, row.id) != flags.only.end();
    return !gate || belongs_to_gate(row.gate, flags);
  });
  const auto verdict = doctor::verdict_of(results);
  if (flags.output == Output::sarif) {
    fmt::print("{}\n", render_sarif(doctor::findings_of(results), STOKER_VERSION));
  } else if (flags.output == Output::json) {
    print_document(doctor::report_json(results, gate ? &verdict : nullptr), flags.output);
  } else {
    fmt::print("{}", doctor::report_table(results, {.table = table_style(), .all = flags.all}));
    if (gate) print_verdict(verdict, flags);
  }
  if (gate) {
    return verdict == doctor::Verdict::go      ? exit_nothing_wrong
           : verdict == doctor::Verdict::no_go ? exit_found
                                               : exit_could_not;
  }
  if (doctor::found_anything(results)) return exit_found;
  return doctor::saw_nothing(results) ? exit_could_not : exit_nothing_wrong;
}

}  // namespace

void add_doctor_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<DoctorFlags>();
  CLI::App* verb = app.add_subcommand("doctor", "Find what is wrong with a node's set-up for GPUs");
  verb->add_option("--root", flags->root, "Look at this folder as a node's /")->type_name("DIR");
  verb->add_option("--only", flags->only, "Only these checks")->type_name("ID,…")->delimiter(',');
  verb->add_option("--as", flags->as,
                   "Take the files for a node's or a container's; else it is found out")
      ->type_name("node|container")
      ->check(CLI::IsMember({"node", "container"}));
  verb->add_option("--smi", flags->smi, "What `nvidia-smi -q` printed; - is standard input")
      ->type_name("FILE");
  verb->add_flag("--all", flags->all, "Also what is fine");
  auto* before = verb->add_flag("--before-reboot", flags->before, "May this node restart?");
  verb->add_flag("--after-reboot", flags->after, "Has it come back whole?")->excludes(before);
  verb->add_flag("--list", flags->list, "List the checks");
  verb->add_option("--explain", flags->explain, "Say what a check looks at, and why")
      ->type_name("ID");
  add_output_flag(*verb, flags->output, "table|json|sarif");
  verb->footer(doctor_examples);
  verb->callback([flags, &exit_code] { exit_code = run_doctor(*flags); });
}

}  // namespace stoker::app
