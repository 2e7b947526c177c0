#include "nccl/tree.h"

namespace stoker::nccl {

Result<Tree::Index> Tree::add(Node node) {
  if (nodes_.size() >= most_nodes) return fail(ErrorCode::corrupt, "it holds too many values");
  nodes_.push_back(std::move(node));
  return static_cast<Index>(nodes_.size() - 1);
}

std::optional<std::int64_t> Item::integer() const {
  if (kind() == Tree::Kind::integer) return node_->integer;
  return std::nullopt;
}

std::string_view Item::text() const {
  return kind() == Tree::Kind::text ? std::string_view(node_->text) : std::string_view();
}

std::size_t Item::size() const {
  if (kind() == Tree::Kind::list) return node_->items.size();
  return kind() == Tree::Kind::table ? node_->items.size() / 2 : 0;
}

Item Item::operator[](std::size_t position) const {
  if (position >= size()) return {};
  const bool table = node_->kind == Tree::Kind::table;
  return {*tree_, node_->items[table ? 2 * position + 1 : position]};
}

Item Item::key(std::size_t position) const {
  if (kind() != Tree::Kind::table || position >= size()) return {};
  return {*tree_, node_->items[2 * position]};
}

Item Item::operator[](std::string_view name) const {
  if (kind() != Tree::Kind::table) return {};
  for (std::size_t at = 0; at < size(); ++at) {
    if (key(at).text() == name) return (*this)[at];
  }
  return {};
}

}  // namespace stoker::nccl
