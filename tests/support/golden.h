// Test support: output against files under tests/golden. When a change is meant, run the test with
// STOKER_UPDATE_GOLDEN=1 and read the difference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "stoker_process.h"

namespace stoker::test {

// `text` with every word that is a number ("76", "0.0/79.6", "580.159.04,") as "#", and every run of
// blanks as one.
inline std::string masked(std::string_view text) {
  const auto is_number = [](std::string_view word) {
    return word.find_first_of("0123456789") != std::string_view::npos &&
           word.find_first_not_of("0123456789./,") == std::string_view::npos;
  };
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    out += is_number(word) ? std::string("#") + (word.back() == ',' ? "," : "") : std::string(word);
    if (end < text.size()) out += text[end];
    at = end < text.size() && text[end] == ' ' ? text.find_first_not_of(' ', end) : end + 1;
    if (at == std::string_view::npos) break;
  }
  return out;
}

inline std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

inline void expect_golden(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(STOKER_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("STOKER_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return;
  }
  EXPECT_EQ(text, read_text(path)) << "tests/golden/" << name;
}

}  // namespace stoker::test
