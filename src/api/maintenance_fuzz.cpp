// Fuzzes a maintenance as it is asked for and as it is kept: whatever comes is refused, or reads back as itself.
#include <cstdlib>
#include <string>

#include "api/maintenance_document.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stoker;  // NOLINT(google-build-using-namespace): a program of its own
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto request = api::parse_maintenance_request(text)) {
    const auto again = api::parse_maintenance_request(api::maintenance_request_body(*request));
    if (!again || again->length != request->length || again->why != request->why) std::abort();
  }
  if (const auto mark = api::parse_maintenance_file(text)) {
    const auto again = api::parse_maintenance_file(api::maintenance_file(*mark));
    if (!again || *again != *mark) std::abort();
  }
  (void)api::view_maintenance(text);
  return 0;
}
