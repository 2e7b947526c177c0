// Catalogue: takes a map of a YAML file apart key by key. What is missing, unknown, of the wrong kind
// or out of range becomes a problem with its place; the value asked for then stays as it was.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "catalog/yaml/yaml.h"

namespace stoker::yaml {

enum class Need : std::uint8_t { optional, required };

// A whole number of `node`: decimal or 0x hex, '_' allowed between digits; nullopt with a problem
// that names `what` and the range.
std::optional<std::int64_t> whole_number(const Node& node, std::string_view what,
                                         std::int64_t least, std::int64_t most, Problems& problems);

class MapReader {
 public:
  // `what` is how messages call this map, e.g. "gpus[2]". If `node` is no map, that is the problem,
  // and every question below is answered with nothing.
  MapReader(const Node& node, std::string what, Problems& problems);

  // The value of `key`, or nullptr; counts `key` as known.
  const Node* find(std::string_view key);
  // As find, and a problem if it is missing or empty.
  const Node* need(std::string_view key);

  void text(std::string_view key, std::string& out, Need need = Need::optional);
  void flag(std::string_view key, bool& out, Need need = Need::optional);
  // One of `words`; out is its index.
  void word(std::string_view key, const std::vector<std::string>& words, std::size_t& out,
            Need need = Need::optional);
  void texts(std::string_view key, std::vector<std::string>& out, Need need = Need::optional);

  // A whole number within the range and within what T holds.
  template <typename T>
  void number(std::string_view key, T& out, std::int64_t least, std::int64_t most,
              Need need = Need::optional) {
    static_assert(std::is_integral_v<T>);
    if (const Node* node = take(key, need)) {
      if (auto value = whole_number(*node, name(key), least, most, problems_)) {
        out = static_cast<T>(*value);
      }
    }
  }
  template <typename T>
  void numbers(std::string_view key, std::vector<T>& out, std::int64_t least, std::int64_t most,
               Need need = Need::optional) {
    std::vector<std::int64_t> values;
    if (!whole_numbers(key, values, least, most, need)) return;
    out.assign(values.begin(), values.end());
  }

  // Calls `reader(item, "what.key[i]")` for each item of the list `key`.
  void each(std::string_view key, Need need,
            const std::function<void(const Node&, const std::string&)>& reader);

  // Unknown keys become problems, with what was probably meant. Call it last.
  void finish();

  [[nodiscard]] Place place() const { return node_.place; }
  [[nodiscard]] std::string name(std::string_view key) const;
  void problem(Place place, std::string message) { problems_.add(place, std::move(message)); }
  [[nodiscard]] Problems& problems() { return problems_; }

 private:
  const Node* take(std::string_view key, Need need_it);
  bool whole_numbers(std::string_view key, std::vector<std::int64_t>& out, std::int64_t least,
                     std::int64_t most, Need need);

  const Node& node_;
  std::string what_;
  Problems& problems_;
  std::vector<std::string> known_;
};

}  // namespace stoker::yaml
