#include "export/exposition.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace stoker::exporting {
namespace {

// The longest double in fixed notation: 309 digits, a sign, a point and six decimals.
using Digits = std::array<char, 328>;

template <typename T, typename... How>
void append_number(std::string& out, T value, How... how) {
  Digits digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, how...).ptr;
  out.append(digits.data(), end);
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

std::string_view without_suffix(std::string_view name, std::string_view suffix) {
  if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return name;
}

// Takes what stands before the first `separator` off `text`.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  const std::string_view head = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return trimmed(head);
}

// The weight of a media range's parameters, RFC 9110 section 12.4.2; 1 where none is given.
double weight_of(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view one = take(parameters, ';');
    if (!one.starts_with("q=") && !one.starts_with("Q=")) continue;
    double weight = 0;
    std::from_chars(one.data() + 2, one.data() + one.size(), weight);
    return weight;
  }
  return 1;
}

}  // namespace

std::string_view content_type(Format format) {
  return format == Format::openmetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

Format choose_format(std::string_view accept) {
  double open = 0;
  double plain = 0;
  while (!accept.empty()) {
    std::string_view range = take(accept, ',');
    const std::string_view type = take(range, ';');
    const double weight = weight_of(range);
    if (type == "application/openmetrics-text") open = std::max(open, weight);
    if (type == "text/plain" || type == "text/*" || type == "*/*") plain = std::max(plain, weight);
  }
  return open > 0 && open >= plain ? Format::openmetrics : Format::prometheus;
}

void append_label(std::string& labels, std::string_view name, std::string_view value) {
  if (!labels.empty()) labels += ',';
  labels.append(name).append("=\"");
  append_escaped(labels, value, true);
  labels += '"';
}

void Exposition::family(std::string_view name, MetricType type, std::string_view help,
                        std::string_view unit) {
  name_ = name;
  type_ = type;
  help_ = help;
  unit_ = unit;
  header_due_ = true;
}

std::string_view Exposition::family_name() const {
  if (format_ == Format::prometheus) return name_;
  if (type_ == MetricType::counter) return without_suffix(name_, "_total");
  if (type_ == MetricType::info) return without_suffix(name_, "_info");
  return name_;
}

std::string_view Exposition::type_word() const {
  const bool open = format_ == Format::openmetrics;
  switch (type_) {
    case MetricType::gauge: return "gauge";
    case MetricType::counter: return open && !name_.ends_with("_total") ? "unknown" : "counter";
    case MetricType::summary: return "summary";
    case MetricType::info: return open ? "info" : "gauge";
  }
  return "gauge";
}

void Exposition::write_header() {
  const bool open = format_ == Format::openmetrics;
  const std::string_view name = family_name();
  out_.append("# HELP ").append(name).append(" ");
  append_escaped(out_, help_, open);
  out_.append("\n# TYPE ").append(name).append(" ").append(type_word()).append("\n");
  if (open && !unit_.empty() && name.ends_with(unit_)) {
    out_.append("# UNIT ").append(name).append(" ").append(unit_).append("\n");
  }
  header_due_ = false;
}

void Exposition::begin(std::string_view labels, std::string_view suffix) {
  if (header_due_) {
    const std::size_t at = out_.size();
    write_header();
    families_.push_back(
        {.begin = at, .name_at = out_.size(), .name_size = name_.size(), .series = 0});
  }
  ++families_.back().series;
  out_.append(name_).append(suffix);
  if (!labels.empty() || !common_.empty()) {
    const bool both = !labels.empty() && !common_.empty();
    out_.append("{").append(labels).append(both ? "," : "").append(common_).append("}");
  }
  out_ += ' ';
}

void Exposition::sample(std::string_view labels, std::int64_t value, std::string_view suffix) {
  begin(labels, suffix);
  append_number(out_, value);
  out_ += '\n';
}

void Exposition::sample(std::string_view labels, std::uint64_t value, std::string_view suffix) {
  begin(labels, suffix);
  append_number(out_, value);
  out_ += '\n';
}

void Exposition::sample(std::string_view labels, double value, std::string_view suffix) {
  begin(labels, suffix);
  append_number(out_, value);
  out_ += '\n';
}

void Exposition::sample_fixed(std::string_view labels, double value) {
  begin(labels, {});
  append_number(out_, value, std::chars_format::fixed, 6);
  out_ += '\n';
}

void Exposition::finish() {
  if (format_ == Format::openmetrics) out_ += "# EOF\n";
}

}  // namespace stoker::exporting
