#include "base/json_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace stoker {
namespace {

TEST(JsonText, WritesNestedDocumentsInTheOrderGiven) {
  JsonWriter json;
  json.begin_object().member("b", 1).member("a", "x").key("list").begin_array();
  json.value(true)
      .null()
      .value(-5)
      .value(0.1)
      .begin_object()
      .end_object()
      .begin_array()
      .end_array();
  json.end_array().member_or_null("none", "").member("big", std::uint64_t{18446744073709551615U});
  json.end_object();
  EXPECT_EQ(
      json.text(),
      R"({"b":1,"a":"x","list":[true,null,-5,0.1,{},[]],"none":null,"none_reason":"not_applicable",)"
      R"("big":18446744073709551615})");
}

TEST(JsonText, EscapesWhatWouldBreakADocument) {
  EXPECT_EQ(json_quoted("a\"b\\c\n\t\r\x01\x7f"), R"("a\"b\\c\n\t\r\u0001\u007f")");
  EXPECT_EQ(json_quoted("25 °C €"), "\"25 °C €\"");
}

TEST(JsonText, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(json_quoted("a\xff"
                        "b"),
            "\"a\uFFFD"
            "b\"");
  EXPECT_EQ(json_quoted("\xc3"), "\"\uFFFD\"");                      // cut off
  EXPECT_EQ(json_quoted("\xed\xa0\x80"), "\"\uFFFD\uFFFD\uFFFD\"");  // a surrogate
  EXPECT_EQ(json_quoted("\xc0\xaf"), "\"\uFFFD\uFFFD\"");            // overlong
}

TEST(JsonText, NeverWritesANumberThatJsonDoesNotHave) {
  JsonWriter json;
  json.begin_array().value(std::numeric_limits<double>::quiet_NaN());
  json.value(std::numeric_limits<double>::infinity()).value(1e300).value(76.0).end_array();
  EXPECT_EQ(json.text(), "[null,null,1e+300,76]");
}

}  // namespace
}  // namespace stoker
