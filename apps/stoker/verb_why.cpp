// Verb `why`: out of memory, idle, slow, pending: what the node's agent knows, walked in order.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "api/picture_reader.h"
#include "command_line.h"
#include "doctor/why.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* why_examples = R"(Examples:
  stoker why slow 3                  what holds GPU 3 down
  stoker why idle                    every GPU of this node, and who is on it
  stoker why oom pid:4711            the host's memory or the card's?
  stoker why oom training/bert-0     the same of a pod
  stoker why pending                 can this node have another pod with a GPU?
  stoker why slow 3 -o json | jq '.answers[].looks'

The agent of this node is asked; what it can't know (what the scheduler says, what a program wrote) is named as missing.
Exit codes: 0 nothing wrong, 1 something is, and the answer names it, 2 it is not known, there is no agent to ask, or wrong
usage.)";

struct WhyFlags {
  AgentFlags agent;
  std::string question;
  std::string target;
  Output output = Output::table;
};

Result<doctor::NodePicture> ask_for_picture(const AgentFlags& agent) {
  std::string documents[3];
  std::size_t n = 0;
  for (const auto* page : {"/api/v1/gpus", "/api/v1/status", "/api/v1/events"}) {
    auto document = ask_agent(agent, page);
    if (!document) return fail(document.error());
    documents[n++] = std::move(*document);
  }
  return api::read_picture(documents[0], documents[1], documents[2]);
}

int run_why(const WhyFlags& flags) {
  const auto question = doctor::question_of(flags.question);
  if (!question) return complain(fmt::format("there is no question '{}'", flags.question));
  const auto picture = ask_for_picture(flags.agent);
  if (!picture) return complain(picture.error().describe());
  const auto answers = doctor::why(*question, flags.target, *picture);
  if (!answers) return complain(answers.error().message());
  if (flags.output == Output::table) {
    fmt::print("{}", doctor::answers_table(*answers, table_style().width));
  } else {
    print_document(doctor::answers_json(*question, *answers), flags.output);
  }
  const bool open = std::ranges::any_of(*answers, [](const doctor::Answer& answer) {
    return answer.certainty == doctor::Certainty::unknown;
  });
  if (std::ranges::any_of(*answers, &doctor::Answer::wrong)) return exit_found;
  return open ? exit_could_not : exit_nothing_wrong;
}

}  // namespace

void add_why_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<WhyFlags>();
  CLI::App* verb = app.add_subcommand(
      "why", "Say why a GPU, process or pod is out of memory, idle, slow or pending");
  verb->add_option("QUESTION", flags->question, "oom, idle, slow or pending")
      ->required()
      ->check(CLI::IsMember({"oom", "idle", "slow", "pending"}));
  verb->add_option("WHO", flags->target,
                   "A GPU (index, UUID, PCI address), pid:N, job:ID or a pod; else every GPU");
  add_agent_flags(*verb, flags->agent);
  add_output_flag(*verb, flags->output, "table|json|yaml");
  verb->footer(why_examples);
  verb->callback([flags, &exit_code] { exit_code = run_why(*flags); });
}

}  // namespace stoker::app
