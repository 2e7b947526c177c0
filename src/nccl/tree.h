// NCCL analyzer: what a dump holds, whatever it was written in (pickle, JSON): numbers, text, lists and tables. Nodes
// stand in one array and name each other by index, so that a dump that contains itself costs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoker::nccl {

class Tree {
 public:
  using Index = std::uint32_t;
  enum class Kind : std::uint8_t { none, boolean, integer, real, text, list, table };

  // A dump of 20,000 collectives with stacks has about two million nodes; more is refused.
  static constexpr std::size_t most_nodes = std::size_t{4} << 20U;

  struct Node {
    Kind kind = Kind::none;
    std::int64_t integer = 0;  // of a boolean too
    double real = 0;
    std::string text;
    std::vector<Index> items;  // of a table: key, value, key, value...
  };

  // corrupt when there are too many.
  Result<Index> add(Node node);
  [[nodiscard]] const Node& at(Index index) const { return nodes_[index]; }
  [[nodiscard]] Node& at(Index index) { return nodes_[index]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

  Index root = 0;

 private:
  std::vector<Node> nodes_;
};

// One node of a tree, to be asked. What is not there answers as none.
class Item {
 public:
  Item() = default;
  Item(const Tree& tree, Tree::Index index) : tree_(&tree), node_(&tree.at(index)) {}

  explicit operator bool() const { return node_ != nullptr; }
  [[nodiscard]] Tree::Kind kind() const {
    return node_ == nullptr ? Tree::Kind::none : node_->kind;
  }
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  [[nodiscard]] bool truth() const { return kind() == Tree::Kind::boolean && node_->integer != 0; }
  [[nodiscard]] std::string_view text() const;  // empty: it is no text
  // Of a list: its length; of a table: how many keys.
  [[nodiscard]] std::size_t size() const;
  // The `position`th of a list, or value of a table.
  [[nodiscard]] Item operator[](std::size_t position) const;
  // The `position`th key of a table.
  [[nodiscard]] Item key(std::size_t position) const;
  [[nodiscard]] Item operator[](std::string_view name) const;

 private:
  const Tree* tree_ = nullptr;
  const Tree::Node* node_ = nullptr;
};

// Python's pickle, protocols 0 to 5, of data alone: what would call or import anything is refused by its name.
Result<Tree> read_pickle(std::string_view bytes);
// RFC 8259.
Result<Tree> read_json(std::string_view text);

}  // namespace stoker::nccl
