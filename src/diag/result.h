// Diag stage: what a test came to, as people and scripts get it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stoker::diag {

// A test that was not made is never a pass.
enum class Verdict : std::uint8_t { pass, fail, not_tested };
const char* to_string(Verdict verdict);  // "not_tested"

struct TestResult {
  std::string name;
  int level = 2;
  std::optional<std::uint32_t> gpu;  // none: the node's
  std::string uuid;
  std::string serial;
  Verdict verdict = Verdict::not_tested;
  bool is_beside = false;  // comes with every run of active tests: a pass of it alone is no verdict
  bool hindered = false;   // not tested although there is something to test: nobody knows how it is
  std::optional<double> value;
  std::string unit;
  std::optional<double> limit;  // the least that passes; of errors the most
  std::string limit_source;
  std::string reason;
  std::string peer;
  std::optional<double> power_watts;  // mean while it ran
  std::vector<std::string> details;
};

// For a prolog or a job: 1: a test failed; 2: none failed, and some that should have been made could not be, or none was
// made at all; 0: all is well.
int exit_code_of(const std::vector<TestResult>& results);

}  // namespace stoker::diag
