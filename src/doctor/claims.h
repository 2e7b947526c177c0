// Analyzer stage: what handbooks say, and what is so.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stoker::doctor {

struct Claim {
  std::string_view id;      // "cuda-matrix"
  std::string_view said;    // in one or two sentences
  std::string_view so;      // what is true
  std::string_view source;  // URL of who says so
};

// The rows of claims.def; no id is a check's.
std::span<const Claim> all_claims();
const Claim* find_claim(std::string_view id);
std::string explain_claim(const Claim& claim, std::size_t width);

}  // namespace stoker::doctor
