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
  const auto any = [&](Verdict verdict) {
    return std::ranges::any_of(results,
                               [verdict](const TestResult& one) { return one.verdict == verdict; });
  };
  if (any(Verdict::fail)) return 1;
  if (!any(Verdict::pass) || std::ranges::any_of(results, &TestResult::hindered)) return 2;
  return 0;
}

}  // namespace stoker::diag
