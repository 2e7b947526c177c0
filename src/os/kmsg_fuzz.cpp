// Any bytes as a kernel record: parsed or refused, and what was parsed reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "os/kmsg.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto record = stoker::os::parse_kmsg_record({reinterpret_cast<const char*>(data), size});
  if (!record) return 0;
  const auto again = stoker::os::parse_kmsg_record(stoker::os::format_kmsg_record(*record));
  if (!again || *again != *record) std::abort();
  return 0;
}
