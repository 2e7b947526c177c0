// Analyzer stage: what a batch script asks Slurm for. Private to slurm.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/slurm/slurm.h"

namespace stoker::lint {

struct BatchOption {
  std::string value;  // of a switch: empty
  FileLocation place;
};

struct BatchScript {
  std::map<std::string, BatchOption, std::less<>>
      options;  // by long name, "nodes"; the last one counts
  std::vector<BatchOption>
      late;                    // directives behind the first command, where others stand before it
  bool heterogeneous = false;  // a job of parts that have options of their own
  bool templated = false;      // statements of a template choose among its lines
  struct Command {
    std::string text;  // lines that a backslash joins are one
    FileLocation place;
  };
  std::vector<Command> commands;  // neither comments nor empty lines

  [[nodiscard]] const BatchOption* option(std::string_view name) const;
  [[nodiscard]] std::optional<long long> number(std::string_view name) const;
};

BatchScript read_batch_script(std::string_view text, const std::string& file);

// What the options come to; nullopt: they do not tell.
std::optional<long long> nodes_of(const BatchScript& script);
std::optional<long long> tasks_per_node(const BatchScript& script);
std::optional<long long> gpus_per_node(const BatchScript& script);
bool asks_for_gpus(const BatchScript& script);

}  // namespace stoker::lint
