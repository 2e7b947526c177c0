// A load trace from anybody: is refused with its line, or what it says can be held and told.
#include <cstddef>
#include <cstdint>

#include "device/record/load_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stoker;
  using device::record::LoadTrace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto trace = LoadTrace::read(text, "trace");
  if (!trace) return 0;
  device::PartListener nobody;
  const LoadTrace held = trace->held(Seconds(10), trace->length() + Seconds(30));
  Nanoseconds before{0};
  for (const auto& row : held.rows()) {
    if (row.at < before || row.gpu >= held.inventory().size()) __builtin_trap();
    before = row.at;
    LoadTrace::tell(row, MonotonicTime{row.at}, nobody);
  }
  return 0;
}
