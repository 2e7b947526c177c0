// Verbs `incidents` and `incident`: what is wrong on this node, one line a cause; and everything about one.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "api/incident_request.h"
#include "api/incidents_view.h"
#include "api/views.h"
#include "base/duration.h"
#include "base/text.h"
#include "command_line.h"
#include "evidence_bundle.h"
#include "follow_incidents.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* list_examples = R"(Examples:
  stoker incidents
  stoker incidents --all                  with those that are over
  stoker incidents -o jsonl | jq 'select(.severity == "critical")'
  stoker incidents --follow -o jsonl      each change of one, as it happens, an object a line
  stoker incident 3                       everything about one

Exit codes: 0 none that is not over, 1 there are some, 2 no agent answers.)";

constexpr const char* one_examples = R"(Examples:
  stoker incident 3                       why, what to do, the lines, what happened to it
  stoker incident 3 -o json
  stoker incident 3 --bundle rma.tar.zst  for the vendor: incident, GPU, events, history
  stoker incident 3 --acknowledge --note "looking at it"
  stoker incident 3 --suppress 4h --note "card is ordered"
  stoker incident 3 --resolve             where no check still finds it

What changes one goes through the socket in the agent's data folder: on its machine, as its user or root.
Exit codes: 0 it is over, or the change was made; 1 it is not over; 2 there is none of that number, it could
not be changed, or no agent answers.)";

constexpr const char* not_over =
    "/api/v1/incidents?state=open,acknowledged,mitigating,proving,suppressed";

struct IncidentFlags {
  AgentFlags agent;
  Output output = Output::table;
  bool all = false;
  bool follow = false;
  std::string id;
  bool acknowledge = false, mitigate = false, resolve = false, reopen = false;
  std::string suppress;  // a duration
  std::string note;
  std::string bundle;  // a file to be made
};

using View = Result<api::IncidentsView> (*)(const std::string&, const TableStyle&);

int print(const IncidentFlags& flags, const std::string& page, View view_of) {
  const auto document = ask_agent(flags.agent, page);
  if (!document) return complain(document.error().describe());
  const auto view = view_of(*document, table_style());
  if (!view) return complain(view.error().describe());
  if (flags.output == Output::table) {
    fmt::print("{}", view->text);
  } else if (const int printed = print_document(*document, flags.output);
             printed != exit_nothing_wrong) {
    return printed;
  }
  return view->any ? exit_found : exit_nothing_wrong;
}

int list(const IncidentFlags& flags) {
  if (flags.follow && flags.all)
    return complain("--follow tells what comes; ask for --all before it");
  if (flags.follow && flags.output == Output::yaml) {
    return complain("--follow prints lines: -o table, json or jsonl");
  }
  if (flags.follow) return follow_incidents(flags.agent, flags.output);
  return print(flags, flags.all ? "/api/v1/incidents" : not_over, &api::view_incidents);
}

// What the flags ask to be done; none: only to look.
Result<std::optional<incident::Request>> request_of(const IncidentFlags& flags) {
  using enum IncidentState;
  std::vector<IncidentState> wanted;
  if (flags.acknowledge) wanted.push_back(acknowledged);
  if (flags.mitigate) wanted.push_back(mitigating);
  if (flags.resolve) wanted.push_back(resolved);
  if (flags.reopen) wanted.push_back(open);
  if (!flags.suppress.empty()) wanted.push_back(suppressed);
  if (wanted.size() > 1) return fail(ErrorCode::invalid_input, "ask for one change at a time");
  if (wanted.empty() && flags.note.empty()) return std::nullopt;
  if (wanted.empty()) {
    return fail(ErrorCode::invalid_input, "--note goes with a change, e.g. --acknowledge");
  }
  incident::Request request{.to = wanted.front(), .note = flags.note};
  if (request.to != suppressed) return request;
  const auto duration = parse_duration(flags.suppress);
  if (!duration) return fail(duration.error());
  if (*duration < Seconds(1)) return fail(ErrorCode::invalid_input, "--suppress: at least 1s");
  request.for_how_long = *duration;
  return request;
}

int change(const IncidentFlags& flags, const incident::Request& request) {
  const auto answer = ask_for_change(flags.agent.config, "/api/v1/incidents/" + flags.id,
                                     api::incident_request_body(request));
  if (!answer) return complain(answer.error().message());
  if (flags.output != Output::table) return print_document(*answer, flags.output);
  const auto view = api::view_incidents(*answer, table_style());
  if (!view) return complain(view.error().describe());
  fmt::print("{}", view->text);
  return exit_nothing_wrong;
}

// Into a file that is not there yet.
int write_bundle(const IncidentFlags& flags) {
  const auto ask = [&flags](const std::string& page) { return ask_agent(flags.agent, page); };
  const auto document = ask("/api/v1/incidents/" + flags.id);
  if (!document) return complain(document.error().describe());
  const auto pci = api::pci_of_incident(*document);
  if (!pci) return complain(pci.error().describe());
  const auto members = gather_bundle(flags.id, *document, *pci, ask);
  const auto packed = pack_bundle(members, system_clock().wall());
  if (!packed) return complain(packed.error().describe());
  std::FILE* const file = std::fopen(flags.bundle.c_str(), "wxbe");
  if (file == nullptr) {
    return complain(Error::from_errno(errno, "make " + flags.bundle).describe());
  }
  const bool written = std::fwrite(packed->data(), 1, packed->size(), file) == packed->size();
  if (std::fclose(file) != 0 || !written) {
    const Error problem = Error::from_errno(errno, "write " + flags.bundle);
    static_cast<void>(std::remove(flags.bundle.c_str()));
    return complain(problem.describe());
  }
  fmt::print("{}: {} files, {} bytes; names and serial numbers of this node are in it\n",
             flags.bundle, members.size(), packed->size());
  return exit_nothing_wrong;
}

int one(const IncidentFlags& flags) {
  if (!whole_number<std::uint64_t>(flags.id)) {
    return complain(
        fmt::format("'{}' is no number of an incident: `stoker incidents` lists them", flags.id));
  }
  const auto request = request_of(flags);
  if (!request) return complain(request.error().message());
  if (*request && !flags.bundle.empty()) return complain("ask for --bundle or for a change");
  if (!flags.bundle.empty()) return write_bundle(flags);
  if (*request) return change(flags, **request);
  return print(flags, "/api/v1/incidents/" + flags.id, &api::view_incident);
}

}  // namespace

void add_incidents_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<IncidentFlags>();
  CLI::App* verb = app.add_subcommand("incidents", "List what is wrong on this node, one a cause");
  add_agent_flags(*verb, flags->agent);
  add_output_flag(*verb, flags->output, "table|json|yaml|jsonl");
  verb->add_flag("--all", flags->all, "Those that are over too");
  verb->add_flag("--follow", flags->follow,
                 "Those that are not over, and then each change as it happens, until Ctrl-C");
  verb->footer(list_examples);
  verb->callback([flags, &exit_code] { exit_code = list(*flags); });
}

void add_incident_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<IncidentFlags>();
  CLI::App* verb =
      app.add_subcommand("incident", "Show everything about one incident, or change it");
  verb->add_option("ID", flags->id, "Its number in `stoker incidents`")->required();
  add_agent_flags(*verb, flags->agent);
  add_option_flags(*verb, flags->agent.config, {config::OptionId::data});
  add_output_flag(*verb, flags->output, "table|json|yaml");
  verb->add_flag("--acknowledge", flags->acknowledge, "Somebody looks at it");
  verb->add_flag("--mitigate", flags->mitigate, "Somebody is repairing it");
  verb->add_option("--suppress", flags->suppress, "Tell nobody of it for so long, e.g. 4h")
      ->type_name("DURATION");
  verb->add_flag("--resolve", flags->resolve, "It is over; refused while a check still finds it");
  verb->add_flag("--reopen", flags->reopen, "As if nobody had looked at it");
  verb->add_option("--bundle", flags->bundle,
                   "Write all that is known about it into this file, a tar packed with zstd")
      ->type_name("FILE");
  verb->add_option("--note", flags->note, "Why; kept in its timeline")->type_name("TEXT");
  verb->footer(one_examples);
  verb->callback([flags, &exit_code] { exit_code = one(*flags); });
}

}  // namespace stoker::app
