// Fuzzes counter files. Whatever the text: a list, or an error with a place inside it; and what a list
// says can be written as a file that says the same.
#include <cstdlib>
#include <string>

#include "export/counters.h"

using namespace stoker;             // NOLINT(google-build-using-namespace): a program of its own
using namespace stoker::exporting;  // NOLINT(google-build-using-namespace)

namespace {

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) all += c == '"' ? std::string("\"\"") : std::string(1, c);
  return all + "\"";
}

std::string written(const CounterList& list) {
  std::string csv;
  for (const CounterSeries& one : list.series) {
    const bool counter = one.type == MetricType::counter;
    csv += one.name + (counter ? ",counter," : ",gauge,") + quoted(one.help) + "\n";
  }
  for (const CounterLabel& one : list.labels) csv += one.name + ",label,\n";
  return csv;
}

bool same(const CounterList& a, const CounterList& b) {
  if (a.series.size() != b.series.size() || a.labels.size() != b.labels.size()) return false;
  for (std::size_t n = 0; n < a.series.size(); ++n) {
    const CounterSeries& x = a.series[n];
    const CounterSeries& y = b.series[n];
    if (x.field != y.field || x.name != y.name || x.type != y.type || x.help != y.help)
      return false;
  }
  for (std::size_t n = 0; n < a.labels.size(); ++n) {
    if (a.labels[n].name != b.labels[n].name) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto first = parse_counters({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
  for (const Finding& finding : first.findings) {
    if (!finding.location || finding.location->line < 1 || finding.location->column < 1) {
      std::abort();
    }
    if (finding.message.empty() || finding.fix.empty()) std::abort();
  }
  if (!first.list) {
    if (first.findings.empty()) std::abort();
    return 0;
  }
  if (first.list->series.empty() && first.list->labels.empty()) return 0;  // nothing is read of it
  const auto second = parse_counters(written(*first.list), "again.csv");
  if (!second.list || !second.findings.empty() || !same(*first.list, *second.list)) std::abort();
  return 0;
}
