// Edge: the document of expectations, and what the command line makes of it. Text in, text out.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "health/expected.h"
#include "model/render.h"

namespace stoker::api {

// {"schema":"stoker.dev/v1/expectation","expectations":[...]}; `seen_reason` may also be "mixed": the
// GPUs differ from one another.
std::string expect_document(const std::vector<health::Comparison>& comparisons);

struct ExpectView {
  std::string text;
  bool anything_expected = false;
  bool all_met = true;  // of what is expected
};
Result<ExpectView> view_expect(const std::string& document);

// The section `expect:` of a config file that what is seen would meet. unavailable if something is not
// known (a GPU is lost or hangs, or is not read yet): the message says what. What differs between GPUs,
// and what their kind never tells, is left out, with a comment that says so.
Result<std::string> expect_section(const std::string& document);

}  // namespace stoker::api
