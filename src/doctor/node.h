// Analyzer stage: a node as the doctor sees it: files by their names on that node. A machine, a folder that holds a
// copy of one, or a text of a test stand behind it; nothing here knows which.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoker::doctor {

struct FileFacts {
  enum class Kind : std::uint8_t { file, folder, device, socket, other };

  Kind kind = Kind::file;
  std::uint32_t mode = 0;   // permission bits alone
  std::uint32_t major = 0;  // of a character device
  std::uint32_t minor = 0;
  std::uint64_t bytes = 0;
};

struct DiskUse {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  // for everybody, not root alone
};

// Every path is absolute. not_found means that there is no such file; any other error that nobody could look, and so
// that nothing is known.
class Node {
 public:
  virtual ~Node() = default;

  // At most `limit` bytes; a longer file is `corrupt`.
  [[nodiscard]] virtual Result<std::string> text(std::string_view path,
                                                 std::size_t limit) const = 0;
  // The last `bytes` of a file, or all of a shorter one.
  [[nodiscard]] virtual Result<std::string> tail(std::string_view path,
                                                 std::size_t bytes) const = 0;
  // Names in a folder, sorted.
  [[nodiscard]] virtual Result<std::vector<std::string>> names(std::string_view folder) const = 0;
  [[nodiscard]] virtual Result<std::string> link(std::string_view path) const = 0;
  // Of what a link leads to. Opens no device.
  [[nodiscard]] virtual Result<FileFacts> facts(std::string_view path) const = 0;
  [[nodiscard]] virtual Result<DiskUse> disk(std::string_view path) const = 0;
};

}  // namespace stoker::doctor
