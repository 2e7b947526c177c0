// Catalogue: YAML files as people write them, read so that every mistake is told with file, line,
// column and what would be right. libfyaml does the parsing; nothing else of ours sees it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace stoker::yaml {

// Where in the file; both count from 1.
struct Place {
  int line = 1;
  int column = 1;
};

struct Entry;

// One value of a file. Scalars stay text: what is a number is for the reader to say.
struct Node {
  enum class Kind : std::uint8_t { scalar, list, map };

  Kind kind = Kind::scalar;
  Place place;
  std::string text;     // of a scalar; empty for "key:" with nothing behind it
  bool quoted = false;  // "5" and '5' are words, 5 is a number
  std::vector<Node> items;
  std::vector<Entry> entries;  // in the order of the file; no key twice

  [[nodiscard]] bool empty() const { return kind == Kind::scalar && text.empty() && !quoted; }
};

struct Entry {
  Node key;  // always a scalar
  Node value;
};

// The value of `key`; nullptr: `map` has none, or is no map.
const Node* child_of(const Node& map, std::string_view key);

// All that is wrong with one file. Readers go on after a mistake, so that a person sees the rest too.
class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  void add(Place place, std::string message);
  [[nodiscard]] bool none() const { return found_.empty(); }
  [[nodiscard]] const std::string& file() const { return file_; }
  // invalid_input; one line "file:line:column: message" for each, in the order of the file.
  [[nodiscard]] Error error() const;

  struct Found {
    Place place;
    std::size_t rank;  // in the order in which they were found
    std::string message;
  };
  // The one found first, or nullptr.
  [[nodiscard]] const Found* first() const;

 private:
  std::string file_;
  std::vector<Found> found_;
};

// The one document of `text`; `file` is only its name. invalid_input for bad syntax, keys that stand
// twice, aliases, more than one document or nesting beyond 32.
Result<Node> parse(std::string_view text, const std::string& file);
// A file on disk, of at most 1 MiB; not_found, no_permission or io with its name.
Result<std::string> read_text(const std::string& path);
// Both in one.
Result<Node> parse_file(const std::string& path);

}  // namespace stoker::yaml
