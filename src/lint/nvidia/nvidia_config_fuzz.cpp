// Any bytes as a configuration of the device plugin or of mig-parted, and as an entry of a ConfigMap.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lint/nvidia/config.h"
#include "lint/nvidia/mig_board.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace lint = stoker::lint;
  namespace yaml = stoker::yaml;
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)lint::MigName::parse(text);
  const auto root = yaml::parse(text, "f");
  if (!root) return 0;
  for (const auto& finding : lint::lint_nvidia_config(*root, "f")) {
    if (!finding.location || finding.location->line < 1) std::abort();
  }
  return 0;
}
