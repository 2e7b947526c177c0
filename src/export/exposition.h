// Export stage: Prometheus' text format 0.0.4 and OpenMetrics 1.0, written straight into one string.
// https://prometheus.io/docs/instrumenting/exposition_formats/
// https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker::exporting {

enum class Format { prometheus, openmetrics };

// What the HTTP answer's Content-Type says.
std::string_view content_type(Format format);
// The format that an Accept header asks for; Prometheus' text where it asks for nothing we have.
Format choose_format(std::string_view accept);

enum class MetricType { gauge, counter, summary, info };

// Appends one label to `labels` ("a=\"1\",b=\"2\"" without braces), its value escaped.
void append_label(std::string& labels, std::string_view name, std::string_view value);

// Where a family stands in the text, for those who take whole families out again.
struct FamilySpan {
  std::size_t begin = 0;      // of its header; it ends where the next one begins
  std::size_t name_at = 0;    // of its first series
  std::size_t name_size = 0;  // without a summary's suffix
  std::size_t series = 0;
};

// Writes families one after the other. `name` is what Prometheus' text shows; OpenMetrics wants
// counters and infos without their suffix in the family name, and a counter whose name does not end
// in _total (DCGM's) can only be `unknown` there: the series keep their names in both formats.
class Exposition {
 public:
  // Appends to `out`, which must outlive it. `common` are labels that every series ends with, as
  // append_label makes them.
  Exposition(std::string& out, Format format, std::string common = {})
      : out_(out), format_(format), common_(std::move(common)) {}

  // Starts a family, whose texts must live until the next one starts. Its header is written with
  // its first sample, so that an empty one leaves no trace. `unit` (a base unit, e.g. "seconds") goes into OpenMetrics' UNIT line where the name ends
  // in it.
  void family(std::string_view name, MetricType type, std::string_view help,
              std::string_view unit = {});
  // One series of the family; `labels` as append_label made them, may be empty. `suffix` is for
  // summaries: "_sum" or "_count".
  void sample(std::string_view labels, std::int64_t value, std::string_view suffix = {});
  void sample(std::string_view labels, std::uint64_t value, std::string_view suffix = {});
  // Shortest that reads back the same.
  void sample(std::string_view labels, double value, std::string_view suffix = {});
  // As dcgm-exporter prints doubles: six decimals.
  void sample_fixed(std::string_view labels, double value);
  // Those that have a series so far.
  [[nodiscard]] const std::vector<FamilySpan>& families() const { return families_; }
  // "# EOF" where the format wants it. Nothing may follow.
  void finish();

 private:
  void begin(std::string_view labels, std::string_view suffix);
  void write_header();
  [[nodiscard]] std::string_view family_name() const;
  [[nodiscard]] std::string_view type_word() const;

  std::string& out_;
  const Format format_;
  const std::string common_;
  std::string_view name_;
  std::string_view help_;
  std::string_view unit_;
  MetricType type_ = MetricType::gauge;
  bool header_due_ = false;
  std::vector<FamilySpan> families_;
};

}  // namespace stoker::exporting
