// Analyzer stage: variables out of text, with the place of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/env/environment.h"

namespace stoker::lint {

// What a shell, `env`, a dotenv file and NCCL's configuration file write. Lines that set nothing are passed over;
// `file` is only a name. Of a script, the assignments at the beginnings of its lines, behind `export`, `declare -x` and
// `env`, and between `;`, `&&` and `then`; what it would do is not followed.
std::vector<Variable> read_environment_text(std::string_view text, const std::string& file,
                                            EnvReader reader);

// The assignments at the beginning of one line of a script.
void read_assignments(std::string_view line, const FileLocation& start,
                      std::vector<Variable>& variables);

// /proc/PID/environ: assignments with NUL between.
std::vector<Variable> read_process_environment(std::string_view bytes, const std::string& file);

// How `text` of that name is to be read: NCCL's own file by its name (nccl.conf, .nccl.conf), a script by its `#!` or by
// commands among its lines, else a list.
EnvReader reader_for(std::string_view file, std::string_view text);

}  // namespace stoker::lint
