// Fuzzes what the command line makes of an agent's answer: whatever comes over the network, it prints
// something or says that it is no document of ours.
#include <cstdlib>

#include "api/views.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stoker::api;  // NOLINT(google-build-using-namespace): a program of its own
  const std::string document(reinterpret_cast<const char*>(data), size);
  for (const auto format : {DataFormat::json, DataFormat::yaml, DataFormat::jsonl}) {
    static_cast<void>(format_document(document, format).has_value());
  }
  static_cast<void>(view_status(document, document, {}, true).has_value());
  static_cast<void>(view_gpus(document).has_value());
  static_cast<void>(view_gpus_now(document, true).has_value());
  static_cast<void>(view_fields(document).has_value());
  if (error_message(document).size() > size) std::abort();
  return 0;
}
