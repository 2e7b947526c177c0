// Diag stage: results as text: for people, as JSON (docs/specs/contracts.md), and as JUnit XML.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/result.h"

namespace stoker::diag {

struct ReportFacts {
  std::string hostname;
  std::string started;  // RFC 3339
  double seconds = 0;   // the whole run
  bool simulated = false;
  std::vector<std::string> notes;
};

// {"schema":"stoker.dev/v1/diag","tests":[…]}, and what holds for the run.
std::string render_diag_json(const std::vector<TestResult>& results, const ReportFacts& facts);
// https://github.com/testmoapp/junitxml: a failed test is <failure>, one that was not made <skipped>; one that was
// hindered is an <error>, so that no reader takes it for a pass.
std::string render_junit(const std::vector<TestResult>& results, const ReportFacts& facts);
// "4.54 TB/s", "638 TFLOP/s", "13.5 µs", "0 errors"; "-" for none.
std::string value_text(const std::optional<double>& value, const std::string& unit);
// One line that sums up.
std::string summary_text(const std::vector<TestResult>& results, const ReportFacts& facts);

}  // namespace stoker::diag
