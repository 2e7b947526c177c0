// Fuzzes the config file. What is accepted can be shown and read back, and says the same.
#include <cstdlib>

#include "catalog/yaml/libfyaml_leaks_test_support.h"
#include "config/config_file.h"

using namespace stoker;          // NOLINT(google-build-using-namespace): a program of its own
using namespace stoker::config;  // NOLINT(google-build-using-namespace)

namespace {

Settings read(std::string_view text, std::vector<Finding>& findings) {
  Settings settings;
  take_config(yaml::parse(text, "fuzz.yaml"), "fuzz.yaml", settings, findings);
  return settings;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<Finding> findings;
  const Settings first = read({reinterpret_cast<const char*>(data), size}, findings);
  if (!findings.empty()) return 0;
  const Settings second = read(to_yaml(first), findings);
  if (!findings.empty()) std::abort();
  for (const Option& row : all_options()) {
    if (value_text(first.value(row.id)) != value_text(second.value(row.id))) std::abort();
  }
  return 0;
}
