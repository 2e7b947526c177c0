// Verb `history`: the last hour or day of a field, as curves, a table or data.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "api/history_view.h"
#include "api/views.h"
#include "base/duration.h"
#include "command_line.h"
#include "net/percent.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* history_examples = R"(Examples:
  stoker history power                       every GPU's last hour, a line each
  stoker history temperature --gpu 3         one GPU, taller
  stoker history sm_active --since 12h       by minute
  stoker history cpu_busy                    of the node itself
  stoker history power -o table              at most 60 rows; the default where no terminal is
  stoker history power -o json | jq '.series[] | .samples[-1].power_watts'

Kept: every reading of the last hour, least, mean and most of every minute of the last day. A time
without a value says why: hung, lost, stale, not_watched (no agent ran), ...
Exit codes: 0 printed, 2 wrong usage, or no agent to ask.)";

struct HistoryFlags {
  AgentFlags agent;
  Output output = isatty(STDOUT_FILENO) == 1 ? Output::plot : Output::table;
  std::string field;
  std::string gpu;
  std::string since = "1h";
  std::string step;
};

api::PlotStyle plot_style() {
  api::PlotStyle style{.unicode = speaks_utf8()};
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) {
    style.width = size.ws_col;
  }
  return style;
}

Result<std::string> page_of(const HistoryFlags& flags) {
  const auto since = parse_duration(flags.since);
  if (!since) return fail(since.error());
  std::string page =
      fmt::format("/api/v1/history?field={}&since={}", net::percent_encode(flags.field),
                  net::percent_encode(flags.since));
  if (!flags.gpu.empty()) page += "&gpu=" + net::percent_encode(flags.gpu);
  if (!flags.step.empty()) page += "&step=" + flags.step;
  return page;
}

int run(const HistoryFlags& flags) {
  const auto page = page_of(flags);
  if (!page) return complain(page.error().describe());
  const auto history = ask_agent(flags.agent, *page);
  if (!history) return complain(history.error().describe());
  if (flags.output != Output::plot && flags.output != Output::table) {
    return print_document(*history, flags.output);
  }
  const auto text = flags.output == Output::plot ? api::plot_history(*history, plot_style())
                                                 : api::view_history(*history);
  if (!text) return complain(text.error().describe());
  fmt::print("{}", *text);
  return exit_nothing_wrong;
}

}  // namespace

void add_history_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<HistoryFlags>();
  CLI::App* verb = app.add_subcommand("history", "Show the last hour or day of a field");
  verb->add_option("field", flags->field, "A field that `stoker fields` lists")
      ->type_name("FIELD")
      ->required();
  verb->add_option("--gpu", flags->gpu, "One GPU, by index, UUID or PCI address")->type_name("N");
  verb->add_option("--since", flags->since, "How far back; beyond an hour by minute")
      ->type_name("DURATION")
      ->capture_default_str();
  verb->add_option("--step", flags->step, "reading or minute, whatever --since says")
      ->check(CLI::Validator(CLI::IsMember({"reading", "minute"})).description(""))
      ->type_name("STEP");
  add_agent_flags(*verb, flags->agent);
  add_output_flag(*verb, flags->output, "plot|table|json|yaml|jsonl");
  verb->footer(history_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
