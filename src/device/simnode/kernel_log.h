// Simulated node: the kernel's log as /dev/kmsg hands it out, in a plain file that only grows. One
// record is a line "priority,sequence,microseconds,-;text" (Linux, Documentation/ABI/testing/dev-kmsg).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace stoker::simnode {

enum class KernelLevel : std::uint8_t { error = 3, warning = 4, notice = 5, info = 6 };

struct KernelLine {
  KernelLevel level = KernelLevel::warning;
  std::string text;
  std::optional<unsigned> gpu;  // before a GPU's first Xid, the driver introduces it
};

class KernelLog {
 public:
  explicit KernelLog(std::string path) : path_(std::move(path)) {}

  // Appends one record for each text, in one write, numbered on from the last; `usec` is the time
  // since boot. Bytes that are no plain ASCII become \xNN, as the kernel does it. Any process.
  Result<void> append(KernelLevel level, std::uint64_t usec,
                      const std::vector<std::string>& texts) const;

  // Is there a record whose text begins with `text`?
  [[nodiscard]] bool has(const std::string& text) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The line of one record, with its newline.
std::string kernel_record(KernelLevel level, std::uint64_t sequence, std::uint64_t usec,
                          std::string_view text);

}  // namespace stoker::simnode
