// Ground stage: bytes for another process of this machine, or for a later one. Numbers stand in the
// machine's own order; a Reader still trusts nothing that it reads.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/clock.h"
#include "model/pci_address.h"

namespace stoker::wire {

template <typename T>
concept PlainNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

class Writer {
 public:
  template <PlainNumber T>
  void number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  // So many bytes more will be written: for speed alone.
  void expect(std::size_t bytes) { bytes_.reserve(bytes_.size() + bytes + 64); }
  void flag(bool value) { number<std::uint8_t>(value ? 1 : 0); }
  template <typename E>
    requires std::is_enum_v<E>
  void word(E value) {
    number(static_cast<std::uint16_t>(value));
  }
  // Longer texts are cut: a driver's message is never worth a lost inventory.
  void text(std::string_view value) {
    const auto kept = value.substr(0, max_text);
    number(static_cast<std::uint16_t>(kept.size()));
    bytes_.append(kept);
  }
  void count(std::size_t value) { number(static_cast<std::uint32_t>(value)); }
  void duration(Nanoseconds value) { number<std::int64_t>(value.count()); }
  void time(MonotonicTime value) { duration(value.since_boot); }
  void address(const PciAddress& pci) {
    number(pci.domain);
    number(pci.bus);
    number(pci.device);
    number(pci.function);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

  static constexpr std::size_t max_text = 4096;

 private:
  std::string bytes_;
};

// Reads what a Writer wrote. Past the end, or at a value that can't be, it fails for good: every
// later read gives zero, and ok() is false. Callers check once, at the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <PlainNumber T>
  T number() {
    T value{};
    if (failed_ || rest_.size() < sizeof value) {
      failed_ = true;
      return T{};
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  bool flag() {
    const auto value = number<std::uint8_t>();
    if (value > 1) failed_ = true;
    return value == 1;
  }
  // A word of an enumeration whose greatest value is `last`.
  template <typename E>
    requires std::is_enum_v<E>
  E word(E last) {
    const auto value = number<std::uint16_t>();
    if (value > static_cast<std::uint16_t>(last)) {
      failed_ = true;
      return E{};
    }
    return static_cast<E>(value);
  }
  std::string text() {
    const auto size = number<std::uint16_t>();
    if (failed_ || size > Writer::max_text || rest_.size() < size) {
      failed_ = true;
      return {};
    }
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  // How many elements follow, each of at least `smallest` bytes; so a lying count allocates nothing.
  std::size_t count(std::size_t smallest) {
    const auto value = number<std::uint32_t>();
    if (failed_ || value > rest_.size() / smallest) {
      failed_ = true;
      return 0;
    }
    return value;
  }
  Nanoseconds duration() { return Nanoseconds(number<std::int64_t>()); }
  MonotonicTime time() { return {duration()}; }
  PciAddress address() {
    PciAddress pci;
    pci.domain = number<std::uint32_t>();
    pci.bus = number<std::uint8_t>();
    pci.device = number<std::uint8_t>();
    pci.function = number<std::uint8_t>();
    if (pci.device > 31 || pci.function > 7) failed_ = true;  // PCI: 5 bits and 3 bits
    return pci;
  }

  void fail() { failed_ = true; }
  [[nodiscard]] bool ok() const { return !failed_; }
  [[nodiscard]] bool done() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace stoker::wire
