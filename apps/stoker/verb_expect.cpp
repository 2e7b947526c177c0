// Verb `expect`: what this node was said to have, against what is there; and the section of the config
// file that says so, written from what is there.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "api/expect_document.h"
#include "command_line.h"
#include "config/section.h"
#include "verbs.h"

namespace stoker::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* expect_examples = R"(Examples:
  stoker expect                               what is expected, what is seen, what differs
  stoker expect --write -                     print the section `expect:` for what is there now
  stoker expect --write /etc/stoker/stoker.yaml && systemctl kill -s HUP stoker
                                              put it into the config file; the rest stays as it is

Nothing is written while anything is lost, hung or not known. `stoker status` shows what differs.
Exit codes: 0 all that is expected is there, or written; 1 something differs or is not known; 2 no agent to
ask, or nothing could be written.)";

struct ExpectFlags {
  AgentFlags agent;
  Output output = Output::table;
  std::string file;
};

// nullopt: it is there and can't be read.
std::optional<std::string> read_old(const std::string& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return "";
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? std::optional(std::move(text).str()) : std::nullopt;
}

// Beside it first, so that a config file is never half there; with the rights of the old one.
std::error_code replace_file(const std::string& file, const std::string& text) {
  const std::string fresh = file + ".new";
  std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  std::error_code problem;
  if (!out) return std::make_error_code(std::errc::io_error);
  if (const auto old = fs::status(file, problem); fs::exists(old)) {
    fs::permissions(fresh, old.permissions(), problem);
  }
  fs::rename(fresh, file, problem);
  return problem;
}

// Would the agent take `text` as its config?
bool is_good(const std::string& file, const std::string& text) {
  return config::resolve({.file = file, .text = text}).settings.has_value();
}

int write(const std::string& file, const std::string& document) {
  const auto section = api::expect_section(document);
  if (!section) return complain(section.error().message());
  if (file == "-") {
    fmt::print("{}", *section);
    return exit_nothing_wrong;
  }
  const auto old = read_old(file);
  if (!old) return complain(fmt::format("{} can't be read", file));
  const std::string text = config::replace_section(*old, "expect", *section);
  if (!is_good(file, text)) {
    return complain(
        fmt::format("{} is no config that `stoker up` would take: see `stoker config "
                    "check {}`; nothing was written",
                    file, file));
  }
  if (const auto problem = replace_file(file, text)) {
    return complain(fmt::format("write {}: {}", file, problem.message()));
  }
  fmt::print("wrote the section expect: of {}; the agent reads it on SIGHUP or when it starts\n",
             file);
  return exit_nothing_wrong;
}

int run(const ExpectFlags& flags) {
  const auto document = ask_agent(flags.agent, "/api/v1/expect");
  if (!document) return complain(document.error().describe());
  if (!flags.file.empty()) return write(flags.file, *document);
  const auto view = api::view_expect(*document);
  if (!view) return complain(view.error().describe());
  if (flags.output != Output::table) {
    if (const int code = print_document(*document, flags.output); code != exit_nothing_wrong) {
      return code;
    }
  } else {
    fmt::print("{}", view->text);
    if (!view->anything_expected) {
      fmt::print(
          "\nNothing is expected of this node. `stoker expect --write FILE` writes what is "
          "there.\n");
    }
  }
  return view->all_met ? exit_nothing_wrong : exit_found;
}

}  // namespace

void add_expect_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ExpectFlags>();
  CLI::App* verb = app.add_subcommand("expect", "Compare this node with what it should have");
  add_agent_flags(*verb, flags->agent);
  CLI::Option* output = add_output_flag(*verb, flags->output, "table|json|yaml|jsonl");
  verb->add_option("--write", flags->file, "Write what is there into this config file; - prints it")
      ->type_name("FILE")
      ->excludes(output);
  verb->footer(expect_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
