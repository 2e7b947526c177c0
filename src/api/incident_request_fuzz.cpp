// Fuzzes the body of POST /api/v1/incidents/{id}: whatever comes is refused, or is a request that reads back as itself.
#include <cstdlib>

#include "api/incident_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stoker;  // NOLINT(google-build-using-namespace): a program of its own
  const auto request =
      api::parse_incident_request(std::string(reinterpret_cast<const char*>(data), size));
  if (!request) return 0;
  const auto again = api::parse_incident_request(api::incident_request_body(*request));
  if (!again || again->to != request->to || again->for_how_long != request->for_how_long) {
    std::abort();
  }
  return 0;
}
