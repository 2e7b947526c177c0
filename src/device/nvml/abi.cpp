#include "device/nvml/abi.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <string_view>

namespace stoker::nvml {
namespace {

// One function of abi::Functions as bare bytes: rows differ in type, not in size.
class Slot {
 public:
  Slot(abi::Functions& functions, const abi::FunctionRow& row)
      : at_(reinterpret_cast<char*>(&functions) + row.offset) {}
  [[nodiscard]] bool filled() const {
    void* address = nullptr;
    std::memcpy(&address, at_, sizeof(address));
    return address != nullptr;
  }
  void clear() {
    void* const none = nullptr;
    std::memcpy(at_, static_cast<const void*>(&none), sizeof(none));
  }

 private:
  char* at_;
};

bool in_table(std::string_view symbol) {
  for (const AbiRow& row : abi_table()) {
    if (row.symbol == symbol) return true;
  }
  return false;
}

}  // namespace

MatchedAbi match_abi(const std::string& driver_version, abi::Functions& functions) {
  MatchedAbi matched;
  if (const auto version = parse_driver_version(driver_version)) {
    matched.version = *version;
  } else {
    matched.notes.push_back(
        fmt::format("driver version \"{}\" can't be read: taken as newer than every known one",
                    driver_version));
  }
  std::vector<std::string_view> cleared;
  std::vector<std::string_view> absent;
  for (const abi::FunctionRow& row : abi::function_rows()) {
    if (row.need != abi::Need::required && row.need != abi::Need::reading) continue;
    Slot slot(functions, row);
    const bool expected = row.since_driver <= matched.version.branch;
    if (in_table(row.symbol) && row_for(row.symbol, matched.version) == nullptr) {
      if (slot.filled()) cleared.push_back(row.symbol);
      slot.clear();
    } else if (expected && !slot.filled()) {
      absent.push_back(row.symbol);
    }
  }
  if (!cleared.empty()) {
    matched.notes.push_back(
        fmt::format("not called, since what they fill in this driver is not known: {}",
                    fmt::join(cleared, ", ")));
  }
  if (!absent.empty()) {
    matched.notes.push_back(
        fmt::format("missing in this library, so not supported: {}", fmt::join(absent, ", ")));
  }
  return matched;
}

}  // namespace stoker::nvml
