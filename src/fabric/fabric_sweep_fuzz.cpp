// Any bytes as a saved sweep: read or refused; what is read is judged, and reads back as it was written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fabric/judge.h"
#include "fabric/sweep_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fabric = stoker::fabric;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto sweep = fabric::read_sweep(text);
  if (!sweep) {
    if (sweep.error().message().empty()) std::abort();
    return 0;
  }
  const auto again = fabric::read_sweep(fabric::write_sweep(*sweep));
  if (!again || fabric::write_sweep(*again) != fabric::write_sweep(*sweep)) std::abort();
  (void)fabric::judge(*sweep, nullptr, nullptr);
  (void)fabric::judge(*sweep, &*again, &*again);
  return 0;
}
