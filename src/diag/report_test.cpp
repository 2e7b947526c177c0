// Results as scripts read them.
#include "diag/report.h"

#include <gtest/gtest.h>

namespace stoker::diag {
namespace {

std::vector<TestResult> three() {
  return {{.name = "memory_read",
           .gpu = 0,
           .uuid = "GPU-0",
           .verdict = Verdict::pass,
           .value = 4.5e12,
           .unit = "bytes_per_second",
           .limit = 4.08e12,
           .power_watts = 300.0},
          {.name = "compute_fp32",
           .gpu = 1,
           .verdict = Verdict::fail,
           .value = 1.0,
           .unit = "multiprocessors",
           .reason = "SM 5 <wrong>",
           .details = {"SM 5: 20 of 20"}},
          {.name = "peer_copy",
           .gpu = 1,
           .verdict = Verdict::not_tested,
           .hindered = true,
           .reason = "the worker ended"}};
}

TEST(Report, HasEveryKeyInJsonAndAReasonBesideEachNull) {
  const auto text = render_diag_json(three(), {.hostname = "n1", .seconds = 1.5});
  EXPECT_NE(text.find(R"("schema":"stoker.dev/v1/diag")"), std::string::npos);
  EXPECT_NE(text.find(R"("name":"memory_read","level":2,"gpu":0)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("verdict":"not_tested","value":null,"value_reason":"not_measured")"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("passed":1,"failed":1,"not_tested":1)"), std::string::npos);
}

TEST(Report, MakesNoPassOfATestThatWasNotMade) {
  const auto text = render_junit(three(), {.hostname = "n1"});
  EXPECT_NE(text.find(R"(tests="3" failures="1" errors="1" skipped="0")"), std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(<failure message="SM 5 &lt;wrong&gt;">SM 5: 20 of 20)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("<error message=\"not tested: the worker ended\"/>"), std::string::npos);
}

TEST(Report, SumsUpInOneLine) {
  EXPECT_EQ(summary_text(three(), {.seconds = 2}),
            "1 passed, 1 failed, 1 not tested (1 of them could not be, so nobody knows); 2.0 s");
  EXPECT_EQ(value_text(4.54e12, "bytes_per_second"), "4.54 TB/s");
  EXPECT_EQ(value_text(std::nullopt, "seconds"), "-");
}

}  // namespace
}  // namespace stoker::diag
