#include "lint/cluster/image_cuda.h"

#include <algorithm>

#include "base/text.h"

namespace stoker::lint {
namespace {

bool is_a_digit(char c) { return c >= '0' && c <= '9'; }
bool is_a_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view leading_digits(std::string_view text) {
  const auto* const end = std::ranges::find_if_not(text, is_a_digit);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// The major version in "12.4" and "12"; of "124", as PyTorch's wheels write it, its first two digits.
std::optional<int> major_of(std::string_view text) {
  auto digits = leading_digits(text);
  const bool dotted = digits.size() < text.size() && text[digits.size()] == '.';
  if (digits.size() == 3 && !dotted) digits = digits.substr(0, 2);
  return digits.size() == 2 ? whole_number<int>(digits) : std::nullopt;
}

// Behind a word that is not the end of another ("cuda" of "nocuda").
std::optional<int> major_behind(std::string_view tag, std::string_view word) {
  for (auto at = tag.find(word); at != std::string_view::npos; at = tag.find(word, at + 1)) {
    if (at > 0 && is_a_letter(tag[at - 1])) continue;
    if (const auto major = major_of(tag.substr(at + word.size()))) return major;
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> cuda_major_of_image(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const auto slash = image.rfind('/');
  const auto last = slash == std::string_view::npos ? image : image.substr(slash + 1);
  const auto colon = last.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto tag = last.substr(colon + 1);
  const auto name = image.substr(0, image.size() - tag.size() - 1);
  if (name == "nvidia/cuda" || name.ends_with("/nvidia/cuda")) return major_of(tag);
  if (const auto major = major_behind(tag, "cuda")) return major;
  return major_behind(tag, "cu");
}

}  // namespace stoker::lint
