#include "lint/kubernetes/field_path.h"

#include <fmt/format.h>

#include <string_view>
#include <tuple>

namespace stoker::lint::kubernetes {
namespace {

using yaml::View;

class PathFinder {
 public:
  explicit PathFinder(yaml::Place wanted) : wanted_(wanted) {}

  void walk(View node, const std::string& path) {
    if (node.is_scalar()) return take(node, path);
    bool first = true;
    node.each_entry([&](View key, View value) {
      const auto below = member_of(path, key.text());
      take(key, first && is_at(key) ? path : below);
      first = false;
      walk(value, below);
    });
    int index = 0;
    node.each_item([&](View item) { walk(item, fmt::format("{}[{}]", path, index++)); });
  }

  [[nodiscard]] const std::string& found() const { return found_; }

 private:
  // A key with a '.' or '/' in it, as of labels, in brackets.
  static std::string member_of(const std::string& path, std::string_view key) {
    if (key.find_first_of("./[]") != std::string_view::npos)
      return fmt::format("{}[{}]", path, key);
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
  }

  [[nodiscard]] bool is_at(View scalar) const {
    const auto at = scalar.place();
    return at.line == wanted_.line && at.column == wanted_.column;
  }

  void take(View scalar, const std::string& path) {
    const auto at = scalar.place();
    if (std::tie(at.line, at.column) <= std::tie(wanted_.line, wanted_.column)) found_ = path;
  }

  const yaml::Place wanted_;
  std::string found_;
};

}  // namespace

std::string field_path_of(View root, yaml::Place place) {
  PathFinder finder(place);
  finder.walk(root, {});
  return finder.found();
}

}  // namespace stoker::lint::kubernetes
