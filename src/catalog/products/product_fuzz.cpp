// Fuzzer: no text whatever makes the reader of product files crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "catalog/products/product.h"
#include "catalog/yaml/libfyaml_leaks_test_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto product = stoker::catalog::parse_product(text, "fuzz.yaml");
  if (!product && product.error().message().empty()) __builtin_trap();
  return 0;
}
