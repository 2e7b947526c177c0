#include "export/exposition.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace stoker::exporting {
namespace {

TEST(Exposition, AFamilyWithoutSamplesLeavesNoTrace) {
  std::string text;
  Exposition out(text, Format::prometheus);
  out.family("a", MetricType::gauge, "help");
  out.family("b", MetricType::gauge, "help");
  out.sample({}, std::int64_t{1});
  EXPECT_EQ(text, "# HELP b help\n# TYPE b gauge\nb 1\n");
}

TEST(Exposition, LabelValuesAndHelpAreEscaped) {
  std::string labels;
  append_label(labels, "a", "x\\y\"z\n");
  append_label(labels, "b", "");
  EXPECT_EQ(labels, R"(a="x\\y\"z\n",b="")");
  for (const Format format : {Format::prometheus, Format::openmetrics}) {
    std::string text;
    Exposition out(text, format);
    out.family("m", MetricType::gauge, "a \"b\" \\ \n c");
    out.sample({}, std::int64_t{1});
    const std::string quoted =
        format == Format::openmetrics ? R"(a \"b\" \\ \n c)" : R"(a "b" \\ \n c)";
    EXPECT_EQ(text.substr(0, text.find('\n')), "# HELP m " + quoted);
  }
}

TEST(Exposition, WholeNumbersKeepAllTheirDigits) {
  std::string text;
  Exposition out(text, Format::prometheus);
  out.family("m", MetricType::gauge, "h");
  out.sample("a=\"1\"", std::numeric_limits<std::int64_t>::min());
  out.sample("a=\"2\"", std::numeric_limits<std::uint64_t>::max());
  EXPECT_NE(text.find("{a=\"1\"} -9223372036854775808\n"), std::string::npos);
  EXPECT_NE(text.find("{a=\"2\"} 18446744073709551615\n"), std::string::npos);
}

TEST(Exposition, FixedNumbersHaveSixDecimalsAsGoPrintsThem) {
  std::string text;
  Exposition out(text, Format::prometheus);
  out.family("m", MetricType::gauge, "h");
  out.sample_fixed({}, 30.982);
  out.sample_fixed({}, 0);
  out.sample_fixed({}, std::numeric_limits<double>::max());
  EXPECT_NE(text.find("m 30.982000\nm 0.000000\nm 1797693134862315"), std::string::npos);
}

TEST(Exposition, OpenMetricsNamesTheFamilyWithoutTotalAndInfo) {
  std::string text;
  Exposition out(text, Format::openmetrics);
  out.family("a_seconds_total", MetricType::counter, "h", "seconds");
  out.sample({}, 0.5);
  out.family("b_info", MetricType::info, "h");
  out.sample("v=\"1\"", std::int64_t{1});
  out.finish();
  EXPECT_EQ(text,
            "# HELP a_seconds h\n# TYPE a_seconds counter\n# UNIT a_seconds seconds\n"
            "a_seconds_total 0.5\n# HELP b h\n# TYPE b info\nb_info{v=\"1\"} 1\n# EOF\n");
}

TEST(Exposition, TheFormatIsTheOneThatTheScraperWantsMost) {
  // What Prometheus 2.42 sends (scrape/scrape.go).
  EXPECT_EQ(choose_format("application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
                          "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            Format::openmetrics);
  EXPECT_EQ(choose_format(""), Format::prometheus);
  EXPECT_EQ(choose_format("*/*"), Format::prometheus);
  EXPECT_EQ(choose_format("text/html,application/xhtml+xml"), Format::prometheus);
  EXPECT_EQ(choose_format("application/openmetrics-text;q=0.2, text/plain;q=0.9"),
            Format::prometheus);
  EXPECT_EQ(choose_format("application/openmetrics-text; q=0"), Format::prometheus);
}

RC_GTEST_PROP(ExpositionProperty, ADoubleReadsBackTheSame, (double value)) {
  if (!std::isfinite(value)) return;
  std::string text;
  Exposition out(text, Format::prometheus);
  out.family("m", MetricType::gauge, "h");
  out.sample({}, value);
  const std::string number = text.substr(text.rfind(' ') + 1);
  RC_ASSERT(std::strtod(number.c_str(), nullptr) == value);
}

RC_GTEST_PROP(ExpositionProperty, ALabelNeverBreaksItsLineOrItsQuotes, (const std::string& value)) {
  std::string labels;
  append_label(labels, "a", value);
  RC_ASSERT(labels.find('\n') == std::string::npos);
  std::string back;
  for (std::size_t n = 3; n + 1 < labels.size(); ++n) {
    RC_ASSERT(labels[n] != '"');
    if (labels[n] == '\\') ++n;
    const bool newline = labels[n] == 'n' && labels[n - 1] == '\\';
    back += newline ? '\n' : labels[n];
  }
  RC_ASSERT(back == value);
}

RC_GTEST_PROP(ExpositionProperty, AnyAcceptHeaderGivesAFormat, (const std::string& accept)) {
  const Format format = choose_format(accept);
  RC_ASSERT(format == Format::prometheus || format == Format::openmetrics);
}

}  // namespace
}  // namespace stoker::exporting
