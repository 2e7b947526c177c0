// Export stage: which DCGM series are told, and how, as a counter file of dcgm-exporter says. Pure:
// text in, list and findings out (docs/specs/metrics.md, "Counter files").
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/field.h"
#include "export/exposition.h"
#include "export/text_fields.h"
#include "model/finding.h"

namespace stoker::exporting {

// One family.
struct CounterSeries {
  const Field* field = nullptr;
  std::string name;  // as the file spells it, an older or newer name of the same field
  MetricType type = MetricType::gauge;
  std::string help;
};

// One label on every series of a GPU: what never changes about the card or the driver, or a reading.
struct CounterLabel {
  std::string name;
  const TextField* text = nullptr;
  const Field* field = nullptr;  // where text is nullptr
};

struct CounterList {
  std::vector<CounterSeries> series;  // by DCGM's ids, as dcgm-exporter prints them
  std::vector<CounterLabel> labels;   // by name, likewise
};

// What dcgm-exporter's own files have on, with our words.
const CounterList& default_counters();

struct ParsedCounters {
  std::optional<CounterList> list;  // absent if any finding is an error
  std::vector<Finding> findings;    // in the order of the file, each with line and column
};

// `file` is for the findings alone. Never fails otherwise, whatever the text is.
ParsedCounters parse_counters(std::string_view text, const std::string& file);

}  // namespace stoker::exporting
