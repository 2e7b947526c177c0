// Analyzer stage: Slurm's configuration files, read as slurm.conf(5) says: Key=Value with blanks between, # comments,
// lines continued by a backslash, keys in any case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lint/rule.h"

namespace stoker::lint {

struct SlurmParameter {
  std::string key;  // in lower case
  std::string value;
  FileLocation place;
};

using SlurmLine = std::vector<SlurmParameter>;

std::vector<SlurmLine> read_slurm_conf(std::string_view text, const std::string& file);
// The parameter `key` (lower case) of a line; nullptr: it has none.
const SlurmParameter* parameter_of(const SlurmLine& line, std::string_view key);

// How many names a host or device list stands for: "/dev/nvidia[0-3,7]" is 5, "a,b" is 2; at most a million.
std::size_t count_of_list(std::string_view list);
// Those names, if they are at most 4096.
std::vector<std::string> names_of_list(std::string_view list);
// "gpu:a100:4,shm" at its commas, those inside [] left alone.
std::vector<std::string> split_outside_brackets(std::string_view text);

std::string lower_case(std::string_view text);

}  // namespace stoker::lint
