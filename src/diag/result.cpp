#include "diag/result.h"

#include <algorithm>

namespace stoker::diag {

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass: return "pass";
    case Verdict::fail: return "fail";
    case Verdict::not_tested: break;
  }
  return "not_tested";
}

int exit_code_of(const std::vector<TestResult>& results) {
  const auto failed = [](const TestResult& one) { return one.verdict == Verdict::fail; };
  const auto passed = [](const TestResult& one) {
    return one.verdict == Verdict::pass && !one.is_beside;
  };
  if (std::ranges::any_of(results, failed)) return 1;
  if (std::ranges::none_of(results, passed) ||
      std::ranges::any_of(results, &TestResult::hindered)) {
    return 2;
  }
  return 0;
}

}  // namespace stoker::diag
