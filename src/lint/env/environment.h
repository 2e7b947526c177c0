// Analyzer stage: what is wrong with the environment of a job that uses NCCL. Variables in, findings out; whoever has
// read them, from a file, a manifest, a process or a script, says where each stands.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lint/env/known_variable.h"
#include "lint/rule.h"

namespace stoker::lint {

struct Variable {
  std::string name;
  std::optional<std::string>
      value;  // nullopt: set, but to what is not known (valueFrom, `export X`)
  FileLocation place;
};

// Who reads the assignments, which tells what counts if a name stands twice.
enum class EnvReader : std::uint8_t {
  environment,  // a process: every name once
  list,         // each assignment counts, the last one wins: dotenv, a manifest's list
  script,       // the last that is reached wins, which nobody knows without running it
  nccl_conf     // NCCL's own: no blanks, quotes or `export`, and the first one wins
};

struct EnvContext {
  std::optional<NcclVersion>
      nccl;  // nullopt: not known, so only what no release since 2.18 reads is wrong
  std::optional<bool> several_hosts;  // does the job span hosts?
  EnvReader reader = EnvReader::environment;
};

// The rows of env/rules.def.
RuleTable environment_rules();

// In the order of the variables. Values with `$`, or `{{` of a template, are not judged.
std::vector<Finding> lint_environment(std::span<const Variable> variables,
                                      const EnvContext& context = {});

// Variables of NCCL that processes of one job set differently, which only those that name files and devices may. `processes`
// holds the variables of each process; one without any NCCL_ variable is no rank (a launcher's).
std::vector<Finding> compare_environments(std::span<const std::vector<Variable>> processes);

}  // namespace stoker::lint
