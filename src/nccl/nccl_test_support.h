// Test support: text and files through the analyzer.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "nccl/log_reader.h"
#include "nccl/verdict.h"

namespace stoker::nccl {

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void read_text(Facts& facts, const std::string& name, std::string_view text) {
  LogReader reader(facts, name);
  reader.add(text);
  reader.finish();
}

// The verdicts of what a folder of captures holds.
inline std::vector<Verdict> judge_captures(const std::vector<std::string>& names) {
  Facts facts;
  for (const auto& name : names)
    read_text(facts, name, content_of(STOKER_SOURCE_DIR "/tests/fixtures/captures/" + name));
  return judge(facts);
}

inline Verdict judge_text(std::string_view text) {
  Facts facts;
  read_text(facts, "log", text);
  const auto verdicts = judge(facts);
  EXPECT_EQ(verdicts.size(), 1U);
  return verdicts.empty() ? Verdict{} : verdicts.front();
}

// "missing-rank 3 certain"
inline std::string said(const Verdict& verdict) {
  std::string out = to_string(verdict.verdict);
  for (const auto rank : verdict.ranks) out += ' ' + std::to_string(rank);
  return out + ' ' + to_string(verdict.confidence);
}

}  // namespace stoker::nccl
