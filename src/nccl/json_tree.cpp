// JSON as a Tree: the parser is nlohmann's, told of each value as it comes, so that depth and size have bounds.
#include <cstddef>
#include <nlohmann/json.hpp>

#include "nccl/tree.h"

namespace stoker::nccl {
namespace {

constexpr std::size_t deepest_json = 64;

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return add({}); }
  bool boolean(bool value) override {
    return add({.kind = Tree::Kind::boolean, .integer = value ? 1 : 0});
  }
  bool number_integer(number_integer_t value) override {
    return add({.kind = Tree::Kind::integer, .integer = value});
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add({.kind = Tree::Kind::integer, .integer = static_cast<std::int64_t>(value)});
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return add({.kind = Tree::Kind::real, .real = value});
  }
  bool string(string_t& value) override { return add({.kind = Tree::Kind::text, .text = value}); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Tree::Kind::table); }
  bool key(string_t& name) override { return add({.kind = Tree::Kind::text, .text = name}); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(Tree::Kind::list); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*problem*/) override {
    problem_ = "it is no JSON at byte " + std::to_string(position);
    return false;
  }

  Tree tree;
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  bool add(Tree::Node node) {
    const auto index = tree.add(std::move(node));
    if (!index) {
      problem_ = index.error().message();
      return false;
    }
    last_ = *index;
    if (!open_.empty()) tree.at(open_.back()).items.push_back(last_);
    return true;
  }
  bool open(Tree::Kind kind) {
    if (open_.size() >= deepest_json) {
      problem_ = "it is nested too deeply";
      return false;
    }
    if (!add({.kind = kind})) return false;
    open_.push_back(last_);
    return true;
  }
  bool close() {
    tree.root = open_.front();
    open_.pop_back();
    return true;
  }

  std::vector<Tree::Index> open_;
  Tree::Index last_ = 0;
  std::string problem_ = "it is no JSON";
};

}  // namespace

Result<Tree> read_json(std::string_view text) {
  TreeBuilder builder;
  if (!nlohmann::json::sax_parse(text, &builder))
    return fail(ErrorCode::corrupt, builder.problem());
  return std::move(builder.tree);
}

}  // namespace stoker::nccl
