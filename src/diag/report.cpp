#include "diag/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_text.h"
#include "base/xml_text.h"
#include "model/wrap.h"

namespace stoker::diag {
namespace {

void write_number(JsonWriter& json, const char* name, const std::optional<double>& number,
                  const char* why) {
  if (number) {
    json.member(name, *number);
    return;
  }
  json.key(name).null();
  json.member(std::string(name) + "_reason", why);
}

void write_result(JsonWriter& json, const TestResult& one) {
  json.begin_object().member("name", one.name).member("level", one.level);
  if (one.gpu) {
    json.member("gpu", *one.gpu);
  } else {
    json.inapplicable("gpu");
  }
  json.member_or_null("uuid", one.uuid).member_or_null("serial", one.serial);
  json.member_or_null("peer", one.peer).member("verdict", to_string(one.verdict));
  write_number(json, "value", one.value, "not_measured");
  json.member_or_null("unit", one.unit);
  write_number(json, "limit", one.limit, "none_known");
  json.member_or_null("limit_source", one.limit_source).member("reason", one.reason);
  write_number(json, "power_watts", one.power_watts, "not_measured");
  if (one.verdict == Verdict::not_tested) json.member("hindered", one.hindered);
  json.key("details").begin_array();
  for (const auto& detail : one.details) json.value(detail);
  json.end_array().end_object();
}

// In JUnit each of them is one line.
std::string xml_text(const std::string& text) { return xml_escaped(printable(text)); }

std::string scaled_text(double value, const char* unit) {
  constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t at = 0;
  while (std::abs(value) >= 1000 && at + 1 < std::size(prefixes)) {
    value /= 1000;
    ++at;
  }
  return fmt::format("{:.3g} {}{}", value, prefixes[at], unit);
}

std::size_t count_of(const std::vector<TestResult>& results, Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::count(results, verdict, &TestResult::verdict));
}

std::string junit_body(const TestResult& one) {
  std::string details;
  for (const auto& detail : one.details) details += detail + "\n";
  const std::string message = xml_text(one.reason);
  switch (one.verdict) {
    case Verdict::fail:
      return fmt::format("<failure message=\"{}\">{}</failure>", message, xml_text(details));
    case Verdict::not_tested:
      return fmt::format("<{} message=\"not tested: {}\"/>", one.hindered ? "error" : "skipped",
                         message);
    case Verdict::pass: break;
  }
  return fmt::format("<system-out>{}{}</system-out>", xml_text(value_text(one.value, one.unit)),
                     message.empty() ? "" : "; " + message);
}

}  // namespace

std::string value_text(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "-";
  if (unit == "bytes_per_second") return scaled_text(*value, "B/s");
  if (unit == "operations_per_second") return scaled_text(*value, "FLOP/s");
  if (unit == "seconds") return fmt::format("{:.3g} µs", *value * 1e6);
  if (unit == "megahertz") return fmt::format("{:.0f} MHz", *value);
  if (unit == "multiprocessors") return fmt::format("{:.0f} SMs wrong", *value);
  return fmt::format("{:.0f} {}", *value, unit);
}

std::string render_diag_json(const std::vector<TestResult>& results, const ReportFacts& facts) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/diag").member("hostname", facts.hostname);
  json.member("started", facts.started)
      .member("seconds", facts.seconds)
      .member("simulated", facts.simulated);
  json.member("passed", count_of(results, Verdict::pass))
      .member("failed", count_of(results, Verdict::fail));
  json.member("not_tested", count_of(results, Verdict::not_tested));
  json.key("notes").begin_array();
  for (const auto& note : facts.notes) json.value(note);
  json.end_array().key("tests").begin_array();
  for (const auto& one : results) write_result(json, one);
  json.end_array().end_object();
  return json.text();
}

std::string render_junit(const std::vector<TestResult>& results, const ReportFacts& facts) {
  const auto hindered =
      std::ranges::count_if(results, [](const TestResult& one) { return one.hindered; });
  const auto not_tested = static_cast<std::ptrdiff_t>(count_of(results, Verdict::not_tested));
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"stoker diag\" "
      "hostname=\"{}\" "
      "timestamp=\"{}\" time=\"{:.3f}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\">\n",
      xml_text(facts.hostname), xml_text(facts.started), facts.seconds, results.size(),
      count_of(results, Verdict::fail), hindered, not_tested - hindered);
  for (const auto& one : results) {
    const std::string of = one.gpu ? fmt::format("gpu{}", *one.gpu) : "node";
    out += fmt::format("<testcase classname=\"diag.level{}.{}\" name=\"{}\">{}</testcase>\n",
                       one.level, of, xml_text(one.name), junit_body(one));
  }
  return out + "</testsuite>\n</testsuites>\n";
}

std::string summary_text(const std::vector<TestResult>& results, const ReportFacts& facts) {
  const auto hindered =
      std::ranges::count_if(results, [](const TestResult& one) { return one.hindered; });
  std::string out =
      fmt::format("{} passed, {} failed, {} not tested", count_of(results, Verdict::pass),
                  count_of(results, Verdict::fail), count_of(results, Verdict::not_tested));
  if (hindered > 0) out += fmt::format(" ({} of them could not be, so nobody knows)", hindered);
  out += fmt::format("; {:.1f} s", facts.seconds);
  if (facts.simulated) out += "; SIMULATED cards: no card was tested";
  return out;
}

}  // namespace stoker::diag
