#include "catalog/yaml/map_reader.h"

#include <algorithm>
#include <charconv>

#include "base/closest.h"

namespace stoker::yaml {
namespace {

const char* kind_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::list: return "a list";
    case Node::Kind::map: return "a map";
    case Node::Kind::scalar: break;
  }
  return node.empty() ? "nothing" : "a word";
}

std::string shown(const Node& node) {
  return node.kind == Node::Kind::scalar && !node.empty() ? "'" + node.text + "'" : kind_of(node);
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::string digits(text);
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  const bool negative = digits.starts_with('-');
  std::string_view rest = std::string_view(digits).substr(negative ? 1 : 0);
  int base = 10;
  if (rest.starts_with("0x") || rest.starts_with("0X")) {
    rest.remove_prefix(2);
    base = 16;
  }
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (rest.empty() || code != std::errc{} || end != rest.data() + rest.size()) return std::nullopt;
  return negative ? -value : value;
}

}  // namespace

std::optional<std::int64_t> whole_number(const Node& node, std::string_view what,
                                         std::int64_t least, std::int64_t most,
                                         Problems& problems) {
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  const auto value =
      node.kind == Node::Kind::scalar && !node.quoted ? parse_whole(node.text) : std::nullopt;
  if (!value) {
    problems.add(node.place, std::string(what) + " has to be a whole number from " + range +
                                 ", not " + shown(node));
  } else if (*value < least || *value > most) {
    problems.add(node.place,
                 std::string(what) + " is " + node.text + ", outside its range of " + range);
    return std::nullopt;
  }
  return value;
}

MapReader::MapReader(const Node& node, std::string what, Problems& problems)
    : node_(node), what_(std::move(what)), problems_(problems) {
  if (node.kind != Node::Kind::map) {
    problems.add(node.place, (what_.empty() ? std::string("the file") : what_) +
                                 " has to be a map (key: value), not " + shown(node));
  }
}

std::string MapReader::name(std::string_view key) const {
  return what_.empty() ? std::string(key) : what_ + "." + std::string(key);
}

const Node* MapReader::find(std::string_view key) {
  known_.emplace_back(key);
  return child_of(node_, key);
}

const Node* MapReader::need(std::string_view key) { return take(key, Need::required); }

const Node* MapReader::take(std::string_view key, Need need_it) {
  const Node* node = find(key);
  if (node != nullptr && !node->empty()) return node;
  if (need_it == Need::required && node_.kind == Node::Kind::map) {
    problems_.add(node == nullptr ? node_.place : node->place, name(key) + " is missing");
  }
  return nullptr;
}

void MapReader::text(std::string_view key, std::string& out, Need need_it) {
  const Node* node = take(key, need_it);
  if (node == nullptr) return;
  if (node->kind != Node::Kind::scalar) {
    problems_.add(node->place, name(key) + " has to be a word, not " + shown(*node));
    return;
  }
  out = node->text;
}

void MapReader::flag(std::string_view key, bool& out, Need need_it) {
  const Node* node = take(key, need_it);
  if (node == nullptr) return;
  const bool plain = node->kind == Node::Kind::scalar && !node->quoted;
  if (!plain || (node->text != "true" && node->text != "false")) {
    problems_.add(node->place, name(key) + " has to be true or false, not " + shown(*node));
    return;
  }
  out = node->text == "true";
}

void MapReader::word(std::string_view key, const std::vector<std::string>& words, std::size_t& out,
                     Need need_it) {
  const Node* node = take(key, need_it);
  if (node == nullptr) return;
  const auto found = std::find(words.begin(), words.end(), node->text);
  if (node->kind != Node::Kind::scalar || found == words.end()) {
    problems_.add(node->place,
                  name(key) + " has to be one of " + listed(words) + ", not " + shown(*node));
    return;
  }
  out = static_cast<std::size_t>(found - words.begin());
}

void MapReader::each(std::string_view key, Need need_it,
                     const std::function<void(const Node&, const std::string&)>& reader) {
  const Node* node = take(key, need_it);
  if (node == nullptr) return;
  if (node->kind != Node::Kind::list) {
    problems_.add(node->place, name(key) + " has to be a list, not " + shown(*node));
    return;
  }
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    reader(node->items[i], name(key) + "[" + std::to_string(i) + "]");
  }
}

void MapReader::texts(std::string_view key, std::vector<std::string>& out, Need need_it) {
  each(key, need_it, [&](const Node& item, const std::string& what) {
    if (item.kind != Node::Kind::scalar || item.empty()) {
      problems_.add(item.place, what + " has to be a word, not " + shown(item));
      return;
    }
    out.push_back(item.text);
  });
}

bool MapReader::whole_numbers(std::string_view key, std::vector<std::int64_t>& out,
                              std::int64_t least, std::int64_t most, Need need_it) {
  bool all = true;
  each(key, need_it, [&](const Node& item, const std::string& what) {
    const auto value = whole_number(item, what, least, most, problems_);
    if (value) out.push_back(*value);
    all = all && value.has_value();
  });
  return all && !out.empty();
}

void MapReader::finish() {
  for (const auto& [key, value] : node_.entries) {
    if (std::find(known_.begin(), known_.end(), key.text) != known_.end()) continue;
    const std::string hint = did_you_mean(key.text, known_);
    problems_.add(key.place, "unknown key '" + key.text + "' in " +
                                 (what_.empty() ? std::string("the file") : what_) + "; " +
                                 (hint.empty() ? "known are " + listed(known_) : hint));
  }
}

}  // namespace stoker::yaml
