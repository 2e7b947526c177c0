// Composition: what several verbs share: options of the option table, where the agent is, formats.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli_fwd.h"
#include "config/settings.h"
#include "model/render.h"
#include "net/event_stream.h"

namespace stoker::app {

// Values of the flags that a verb takes from the option table; unset ones are empty.
struct ConfigFlags {
  std::string file;  // --config
  std::vector<std::pair<config::OptionId, std::shared_ptr<std::string>>> values;
};

// --config FILE.
void add_config_file_flag(CLI::App& verb, ConfigFlags& flags);
// A flag for every row of the option table that has one; or for those of `only`.
void add_option_flags(CLI::App& verb, ConfigFlags& flags,
                      const std::vector<config::OptionId>& only = {});

// The effective options; the file is --config, else STOKER_CONFIG, else /etc/stoker/stoker.yaml where it
// exists. What is wrong goes to standard error; nullopt if anything is an error.
std::optional<config::Settings> resolve_settings(const ConfigFlags& flags);
config::Inputs config_inputs(const ConfigFlags& flags);

// How the command line reaches the running agent.
struct AgentFlags {
  std::string url;  // --agent URL; empty: where the config says that the agent listens
  ConfigFlags config;
};
void add_agent_flags(CLI::App& verb, AgentFlags& flags);

// GET of `path` from the agent: its document. `unavailable` only where the connection is refused: no
// agent runs there, and the error says what to do. Any other error is an agent that does not answer.
Result<std::string> ask_agent(const AgentFlags& flags, std::string_view path);

enum class Output { table, plot, json, yaml, jsonl, sarif };
// The same of a page of server-sent events: each is given to `take` until it says false, or the agent ends. `last_id`:
// of the last event that was had; empty: none was. Returns only with an error, or when `take` said false.
Result<void> follow_agent(const AgentFlags& flags, std::string_view path,
                          const std::string& last_id,
                          const std::function<bool(const net::ServerEvent&)>& take);

// -o/--output, one of the words of `formats` ("table|json|yaml").
CLI::Option* add_output_flag(CLI::App& verb, Output& output, std::string_view formats);

// A POST through the socket in the data folder, for which the config needs the option `data`: the agent's document. The
// error says what to do.
Result<std::string> ask_for_change(const ConfigFlags& config, const std::string& path,
                                   const std::string& body);

// Prints `document` of the API as `output`, which is neither table nor plot.
int print_document(const std::string& document, Output output);

// "stoker: MESSAGE" on standard error; returns exit_could_not.
int complain(std::string_view message);

// 80 columns, and colour where standard output is a terminal that has it.
TableStyle table_style();

// Has standard output taken everything? Says so on standard error where not (a full disk).
bool all_was_printed();

// Does the locale of the terminal have more than ASCII?
bool speaks_utf8();

}  // namespace stoker::app
