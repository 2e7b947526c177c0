// Any bytes as a file of variables, read in every way.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "lint/env/env_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace lint = stoker::lint;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  lint::EnvContext context;
  if (size % 2 == 1)
    context.nccl = lint::NcclVersion{.major = 2, .minor = static_cast<int>(size % 32)};
  for (const auto reader : {lint::EnvReader::environment, lint::EnvReader::list,
                            lint::EnvReader::script, lint::EnvReader::nccl_conf}) {
    context.reader = reader;
    const auto variables = lint::read_environment_text(text, "f", reader);
    for (const auto& finding : lint::lint_environment(variables, context)) {
      if (!finding.location || finding.location->line < 1) std::abort();
    }
  }
  const std::vector<std::vector<lint::Variable>> processes = {
      lint::read_process_environment(text, "a"),
      lint::read_environment_text(text, "b", lint::EnvReader::list)};
  (void)lint::compare_environments(processes);
  return 0;
}
