#include "usage.h"

#include <gtest/gtest.h>

#include "verbs.h"

namespace stoker::app {
namespace {

TEST(Usage, SaysWhatTheSystemRefused) {
  testing::internal::CaptureStderr();
  const int code = explain_refusal(std::system_error(EAGAIN, std::generic_category(), "a thread"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "stoker: the system refused: a thread: Resource temporarily unavailable\n");
  EXPECT_EQ(code, exit_could_not);
}

std::string refused(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStderr();
  const auto code = refuse_empty(arguments);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(code.has_value(), !said.empty());
  EXPECT_EQ(code.value_or(exit_could_not), exit_could_not);
  return said;
}

TEST(Usage, AnEmptyArgumentIsRefusedAndNeverTakenForNone) {
  EXPECT_EQ(refused({"up", "--sim", ""}),
            "stoker: the value of --sim is empty; leave the flag out if none is meant\n");
  EXPECT_EQ(refused({"up", "--listen="}), "stoker: --listen= has no value behind it\n");
  EXPECT_EQ(refused({"config", "check", ""}), "stoker: argument 3 is empty\n");
  EXPECT_EQ(refused({"up", "--sim", "hgx-h100"}), "");
  EXPECT_EQ(refused({"expect", "--write", "-"}), "");
}

}  // namespace
}  // namespace stoker::app
