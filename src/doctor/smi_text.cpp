#include "doctor/smi_text.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace stoker::doctor {
namespace {

std::string lower(std::string_view text) {
  std::string word(text);
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

}  // namespace

std::vector<Context::Card> read_smi_text(std::string_view text) {
  std::vector<Context::Card> cards;
  bool in_mig = false;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with("GPU ")) {
      cards.push_back({.name = std::string(trimmed(line)),
                       .mig_current = "",
                       .mig_pending = "",
                       .persistence = ""});
      continue;
    }
    if (cards.empty()) continue;
    const auto colon = line.find(" : ");
    const auto key = trimmed(line.substr(0, colon));
    if (colon == std::string_view::npos) {
      in_mig = key == "MIG Mode";
      continue;
    }
    const std::string value = lower(trimmed(line.substr(colon + 3), " \t\r"));
    if (key == "Persistence Mode") cards.back().persistence = value;
    if (in_mig && key == "Current") cards.back().mig_current = value;
    if (in_mig && key == "Pending") cards.back().mig_pending = value;
  }
  return cards;
}

}  // namespace stoker::doctor
