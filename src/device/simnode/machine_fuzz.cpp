// Fuzzer: no text whatever makes the reader of machine files (and below it that of YAML) crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "catalog/yaml/libfyaml_leaks_test_support.h"
#include "device/simnode/machine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto machine = stoker::simnode::parse_machine(text, "fuzz.yaml", "fuzz", "");
  if (!machine && machine.error().message().empty()) __builtin_trap();
  return 0;
}
