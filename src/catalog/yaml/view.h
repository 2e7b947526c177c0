// Catalogue: YAML of any size, looked at where it was parsed, without a copy: for files that others wrote and that
// may be large, broken or hostile. A file that is ours to read whole is read by yaml.h.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/yaml/yaml.h"

struct fy_node;  // libfyaml's

namespace stoker::yaml {

// Larger documents are refused: the Kubernetes API takes no object beyond 1.5 MiB (etcd's --max-request-bytes), and
// libfyaml needs some thirty times a document's size.
inline constexpr std::size_t largest_document = 4 << 20;

// A node of a parsed document, or nothing; two words, passed by value. Lives as long as its Document. An alias is
// what it stands for; one of a name that nothing has is nothing. Aliases may lead back to where one came from: whoever
// follows a document downwards without knowing its shape has to count.
class View {
 public:
  View() = default;

  [[nodiscard]] bool exists() const { return node_ != nullptr; }
  [[nodiscard]] bool is_map() const;
  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_scalar() const;
  // Nothing, "key:" with nothing behind it, null or ~.
  [[nodiscard]] bool is_null() const;
  // In quotation marks, or a block: a word even where it reads like a number.
  [[nodiscard]] bool is_quoted() const;
  // A block of text behind | or >.
  [[nodiscard]] bool is_block() const;

  // Of a scalar; empty for everything else.
  [[nodiscard]] std::string_view text() const;
  // Where it begins in the file; a list or map where its first scalar does. {1, 1} for nothing.
  [[nodiscard]] Place place() const;

  // The value of `key` in this map, by the last of several, or by a merge (<<); nothing: there is none.
  [[nodiscard]] View find(std::string_view key) const;
  // find() again and again, by "spec.template.spec".
  [[nodiscard]] View at(std::string_view path) const;

  // Calls visit(View item) for each item of a list.
  template <typename Visit>
  void each_item(Visit&& visit) const {
    void* cursor = nullptr;
    for (View item; next_item(cursor, item);) visit(item);
  }
  // Calls visit(View key, View value) for each entry of a map, without those of a merge.
  template <typename Visit>
  void each_entry(Visit&& visit) const {
    void* cursor = nullptr;
    for (View key, value; next_entry(cursor, key, value);) visit(key, value);
  }

 private:
  friend class Document;
  View(fy_node* node, int first_line);
  bool next_item(void*& cursor, View& item) const;
  bool next_entry(void*& cursor, View& key, View& value) const;
  [[nodiscard]] View find_merged(std::string_view key, int merges) const;

  fy_node* node_ = nullptr;
  int first_line_ = 1;
};

// A piece of a file between two lines "---", with the first of them.
struct Piece {
  std::string_view text;
  int first_line = 1;
};

// The documents of `text`, not yet parsed; pieces that hold nothing but blanks and comments are left out.
std::vector<Piece> pieces_of(std::string_view text);

// One parsed document. `piece` has to outlive it.
class Document {
 public:
  // invalid_input, with the one line "file:line:column: message", for what is no YAML, too large or nested too deep.
  static Result<Document> parse(const Piece& piece, const std::string& file);

  [[nodiscard]] View root() const;

 private:
  struct Parsed;
  explicit Document(std::shared_ptr<Parsed> parsed) : parsed_(std::move(parsed)) {}
  std::shared_ptr<Parsed> parsed_;
};

}  // namespace stoker::yaml
