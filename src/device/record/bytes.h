// Device stage: numbers and texts of a recording. Integers are varints (7 bits a byte, lowest first),
// signed ones in zigzag order, so that what is near zero is short; the same on every machine.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"

namespace stoker::device::record {

// Numbers that may wrap around: what a broken source counted must not overflow, and comes back the same.
inline std::int64_t wrapped_sum(std::int64_t one, std::int64_t other) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(one) +
                                   static_cast<std::uint64_t>(other));
}
inline Nanoseconds plus(Nanoseconds one, std::int64_t other) {
  return Nanoseconds(wrapped_sum(one.count(), other));
}
inline std::int64_t wrapped_difference(std::int64_t one, std::int64_t other) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(one) -
                                   static_cast<std::uint64_t>(other));
}

class Out {
 public:
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<char>(value));
  }
  void zigzag(std::int64_t value) {
    varint((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void fixed64(std::uint64_t value) {
    for (int n = 0; n < 8; ++n) bytes_.push_back(static_cast<char>(value >> (8 * n)));
  }
  void number(double value) { fixed64(std::bit_cast<std::uint64_t>(value)); }
  void raw(std::string_view bytes) { bytes_.append(bytes); }
  void text(std::string_view bytes) {
    varint(bytes.size());
    raw(bytes);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string take() { return std::exchange(bytes_, {}); }

 private:
  std::string bytes_;
};

// Reads what an Out wrote. Past the end, or at what can't be, it fails for good: every later read gives
// zero, and ok() is false. Callers check once, at the end.
class In {
 public:
  explicit In(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return failed_ ? 0 : value;
    }
    failed_ = true;
    return 0;
  }
  std::int64_t zigzag() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  std::uint64_t fixed64() {
    if (rest_.size() < 8) failed_ = true;
    if (failed_) return 0;
    std::uint64_t value = 0;
    for (int n = 0; n < 8; ++n) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[n])) << (8 * n);
    }
    rest_.remove_prefix(8);
    return value;
  }
  double number() { return std::bit_cast<double>(fixed64()); }
  std::string_view raw(std::size_t size) {
    if (size > rest_.size()) failed_ = true;
    if (failed_) return {};
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  std::string_view text() { return raw(varint()); }
  // Of elements that take at least one byte each; so a lying count allocates nothing.
  std::size_t count() {
    const std::uint64_t value = varint();
    if (value > rest_.size()) failed_ = true;
    return failed_ ? 0 : value;
  }
  std::string_view rest() { return raw(rest_.size()); }

  void fail() { failed_ = true; }
  [[nodiscard]] bool ok() const { return !failed_; }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace stoker::device::record
