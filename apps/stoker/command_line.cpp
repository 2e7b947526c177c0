#include "command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "api/views.h"
#include "base/host_port.h"
#include "data_folder.h"
#include "model/wrap.h"
#include "net/http_client.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* default_config_file = "/etc/stoker/stoker.yaml";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The variables that options may come from, and those that decide where data lies.
std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) {
      all.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  all.erase("STOKER_CONFIG");
  return all;
}

std::string help_of(const config::Option& row) {
  std::string text(row.help);
  if (!row.fallback.empty() && row.type != config::OptionType::boolean) {
    text += fmt::format(" (default {})", row.fallback);
  }
  return text;
}

// Where an agent that listens on all interfaces is reached from this machine.
std::string agent_url(const config::Settings& settings) {
  auto address = parse_host_port(settings.text(config::OptionId::listen));
  if (!address) return "";
  if (address->host == "::" || address->host == "0.0.0.0") address->host = "127.0.0.1";
  return "http://" + format_host_port(*address);
}

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace

void add_config_file_flag(CLI::App& verb, ConfigFlags& flags) {
  verb.add_option("--config", flags.file,
                  fmt::format("Config file; else $STOKER_CONFIG, else {} if there is one",
                              default_config_file))
      ->type_name("FILE");
}

void add_option_flags(CLI::App& verb, ConfigFlags& flags,
                      const std::vector<config::OptionId>& only) {
  for (const config::Option& row : config::all_options()) {
    if (row.flag.empty()) continue;
    if (!only.empty() && std::ranges::find(only, row.id) == only.end()) continue;
    auto value = std::make_shared<std::string>();
    flags.values.emplace_back(row.id, value);
    const std::string name(row.flag);
    if (row.type == config::OptionType::boolean) {
      verb.add_flag_callback(name, [value] { *value = "true"; }, help_of(row));
    } else {
      verb.add_option(name, *value, help_of(row))->type_name(std::string(row.placeholder));
    }
  }
}

config::Inputs config_inputs(const ConfigFlags& flags) {
  config::Inputs inputs;
  inputs.file = flags.file.empty() ? variable("STOKER_CONFIG") : flags.file;
  std::error_code ignored;
  if (inputs.file.empty() && std::filesystem::exists(default_config_file, ignored)) {
    inputs.file = default_config_file;
  }
  inputs.environment = environment();
  inputs.is_root = ::geteuid() == 0;
  for (const auto& [id, value] : flags.values) {
    if (!value->empty()) inputs.flags.emplace_back(id, *value);
  }
  return inputs;
}

std::optional<config::Settings> resolve_settings(const ConfigFlags& flags) {
  auto resolved = config::resolve(config_inputs(flags));
  fmt::print(stderr, "{}", render_table(resolved.findings));
  return std::move(resolved.settings);
}

void add_agent_flags(CLI::App& verb, AgentFlags& flags) {
  verb.add_option(
          "--agent", flags.url,
          "Where the agent serves, e.g. http://127.0.0.1:9400; else where the config file or "
          "$STOKER_LISTEN says")
      ->type_name("URL");
  add_config_file_flag(verb, flags.config);
}

namespace {

Result<std::string> address_of(const AgentFlags& flags) {
  std::string url = without_slash(flags.url);
  if (!url.empty()) return url;
  const auto settings = resolve_settings(flags.config);
  if (settings) return agent_url(*settings);
  return fail(ErrorCode::invalid_input, "the config above is wrong; or name --agent URL");
}

// The answer of `url` + `path`, if it is one.
Result<net::ClientResponse> answered(const std::string& url, std::string_view path,
                                     Result<net::ClientResponse> answer) {
  if (!answer && answer.error().code() == ErrorCode::unavailable) {
    return fail(
        ErrorCode::unavailable,
        fmt::format("no agent answers at {}: start one with `stoker up`, or name its address "
                    "with --agent URL",
                    url));
  }
  if (answer && answer->status != 200) {
    return fail(ErrorCode::internal, fmt::format("{}{} answered {}: {}", url, path, answer->status,
                                                 api::error_message(answer->body)));
  }
  return answer;
}

}  // namespace

Result<std::string> ask_agent(const AgentFlags& flags, std::string_view path) {
  const auto url = address_of(flags);
  if (!url) return fail(url.error());
  auto answer = answered(*url, path, net::http_get(fmt::format("{}{}", *url, path)));
  if (!answer) return fail(answer.error());
  return std::move(answer->body);
}

Result<void> follow_agent(const AgentFlags& flags, std::string_view path,
                          const std::string& last_id,
                          const std::function<bool(const net::ServerEvent&)>& take) {
  const auto url = address_of(flags);
  if (!url) return fail(url.error());
  net::ClientRequest request{.url = fmt::format("{}{}", *url, path)};
  if (!last_id.empty()) request.headers.emplace_back("Last-Event-ID", last_id);
  net::EventReader reader;
  bool wanted = true;
  const auto take_text = [&](std::string_view text) {
    for (const auto& event : reader.read(text)) wanted = wanted && take(event);
    return wanted;
  };
  const auto answer = answered(*url, path, net::http_follow(request, take_text));
  if (!wanted) return {};
  if (!answer) return fail(answer.error());
  return fail(ErrorCode::unavailable, fmt::format("the agent at {} has ended", *url));
}

Result<std::string> ask_for_change(const ConfigFlags& config, const std::string& path,
                                   const std::string& body) {
  const auto settings = resolve_settings(config);
  if (!settings) return fail(ErrorCode::invalid_input, "the config above is wrong");
  const auto socket = settings->text(config::OptionId::data) + "/" + control_socket;
  auto answer = net::http_send(
      {.method = "POST", .url = "http://agent" + path, .body = body, .unix_socket = socket});
  if (!answer) {
    return fail(ErrorCode::unavailable,
                fmt::format("no agent answers at {}: it has to run on this machine with this "
                            "--data DIR, and you have to be its user or root ({})",
                            socket, answer.error().message()));
  }
  if (answer->status != 200) {
    return fail(ErrorCode::internal, api::error_message(answer->body));
  }
  return std::move(answer->body);
}

CLI::Option* add_output_flag(CLI::App& verb, Output& output, std::string_view formats) {
  const std::map<std::string, Output> all = {{"table", Output::table}, {"plot", Output::plot},
                                             {"json", Output::json},   {"yaml", Output::yaml},
                                             {"jsonl", Output::jsonl}, {"sarif", Output::sarif}};
  std::map<std::string, Output> allowed;
  for (const auto& [word, value] : all) {
    if (fmt::format("|{}|", formats).find(fmt::format("|{}|", word)) != std::string::npos) {
      allowed.emplace(word, value);
    }
  }
  const auto choose = [&output, allowed, formats = std::string(formats)](const std::string& word) {
    const auto found = allowed.find(word);
    if (found == allowed.end()) {
      throw CLI::ValidationError("--output", fmt::format("\"{}\" is none of {}", word, formats));
    }
    output = found->second;
  };
  return verb.add_option_function<std::string>("-o,--output", choose, "How to print it")
      ->type_name(std::string(formats));
}

int print_document(const std::string& document, Output output) {
  const auto format = output == Output::yaml    ? api::DataFormat::yaml
                      : output == Output::jsonl ? api::DataFormat::jsonl
                                                : api::DataFormat::json;
  const auto text = api::format_document(document, format);
  if (!text) return complain(text.error().describe());
  fmt::print("{}", *text);
  return exit_nothing_wrong;
}

int complain(std::string_view message) {
  fmt::print(stderr, "stoker: {}\n", printable(std::string(message), true));
  return exit_could_not;
}

TableStyle table_style() {
  const bool colour = ::isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty() &&
                      variable("TERM") != "dumb" && !variable("TERM").empty();
  return {.colour = colour};
}

bool all_was_printed() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  complain("standard output did not take all of the answer; is its disk full?");
  return false;
}

bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    return locale.find("UTF-8") != std::string_view::npos ||
           locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

}  // namespace stoker::app
