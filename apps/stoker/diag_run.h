// Composition: one run of `stoker diag`, from its flags to its exit code.
#pragma once

#include <string>
#include <vector>

#include "command_line.h"

namespace stoker::app {

struct DiagFlags {
  ConfigFlags config;
  int level = 1;
  std::vector<std::string> tests;
  std::vector<std::string> gpus;
  std::string mig;
  bool allow_busy = false;
  double memory_share = usual_memory_share;
  static constexpr double usual_memory_share = 0.95;
  static constexpr double usual_load_seconds = 10;
  double load_seconds = usual_load_seconds;
  std::vector<std::string> injections;
  std::vector<std::string> faults;
  bool list = false;
  bool quiet = false;
  bool while_idle = false;
  int started_by = 0;  // a pid; 0: whoever is its parent when it begins
  int tell_fd = -1;    // where it is said how the run ended; negative: nowhere
  bool history = true;
  std::string output = "table";
};

int run_diag(const DiagFlags& flags);

}  // namespace stoker::app
