#include "lint/kubernetes/script_words.h"

#include <algorithm>

#include "base/text.h"

namespace stoker::lint::kubernetes {
namespace {

constexpr std::string_view between_words = " \t\r\n;|&()\"'`\\";
// A script is looked at so far; what comes behind is data.
constexpr std::size_t longest_script = 64 << 10;

bool same_option(std::string_view one, std::string_view other) {
  return std::ranges::equal(
      one, other, [](char a, char b) { return (a == '_' ? '-' : a) == (b == '_' ? '-' : b); });
}

bool is_name_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

struct Reference {
  std::string_view name;
  std::size_t length = 0;  // of the whole reference
};

// The reference at the '$' with which `text` begins; a length of 0: it is none.
Reference reference_at(std::string_view text) {
  if (text.size() > 2 && (text[1] == '(' || text[1] == '{')) {
    const auto close = text.find(text[1] == '(' ? ')' : '}');
    if (close == std::string_view::npos) return {};
    return {text.substr(2, close - 2), close + 1};
  }
  std::size_t end = 1;
  while (end < text.size() && is_name_letter(text[end])) ++end;
  return end == 1 ? Reference{} : Reference{text.substr(1, end - 1), end};
}

}  // namespace

void add_words(yaml::View item, std::vector<Word>& words) {
  auto text = item.text();
  if (text.find_first_of(" \n\t") == std::string_view::npos) {
    if (!text.empty()) words.push_back({text, item});
    return;
  }
  text = text.substr(0, longest_script);
  while (!text.empty()) {
    const auto begin = text.find_first_not_of(between_words);
    if (begin == std::string_view::npos) return;
    const auto end = std::min(text.find_first_of(between_words, begin), text.size());
    // "$(NAME)" is one word though it has brackets.
    std::size_t stop = end;
    if (end < text.size() && text[end] == '(' && text[end - 1] == '$') {
      const auto close = text.find(')', end);
      if (close != std::string_view::npos) {
        stop = std::min(text.find_first_of(between_words, close + 1), text.size());
      }
    }
    words.push_back({text.substr(begin, stop - begin), item});
    text.remove_prefix(stop);
  }
}

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string expanded(const Container& container, std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto dollar = std::min(text.find('$'), text.size());
    out += text.substr(0, dollar);
    text.remove_prefix(dollar);
    if (text.empty()) break;
    const Reference reference = reference_at(text);
    const EnvVar* variable = reference.length == 0 ? nullptr : container.variable(reference.name);
    const std::size_t length = std::max<std::size_t>(reference.length, 1);
    const bool known = variable != nullptr && variable->value.is_scalar();
    out += known ? variable->value.text() : text.substr(0, length);
    text.remove_prefix(length);
  }
  return out;
}

std::optional<OptionValue> option_of(const Container& container,
                                     std::initializer_list<std::string_view> names) {
  std::optional<OptionValue> found;
  const auto& words = container.words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto equals = words[i].text.find('=');
    const auto name = words[i].text.substr(0, equals);
    if (!name.starts_with('-')) continue;
    if (std::ranges::none_of(names, [&](auto each) { return same_option(each, name); })) continue;
    if (equals != std::string_view::npos) {
      found = OptionValue{expanded(container, words[i].text.substr(equals + 1)), words[i].from};
    } else if (i + 1 < words.size()) {
      found = OptionValue{expanded(container, words[i + 1].text), words[i].from};
    }
  }
  return found;
}

std::optional<int> number_of(const Container& container,
                             std::initializer_list<std::string_view> names,
                             std::string_view variable) {
  if (const auto option = option_of(container, names)) return whole_number<int>(option->text);
  const EnvVar* set = variable.empty() ? nullptr : container.variable(variable);
  if (set == nullptr) return std::nullopt;
  return whole_number<int>(expanded(container, set->value.text()));
}

}  // namespace stoker::lint::kubernetes
