#include "api/history_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/document_reader.h"
#include "api/text_table.h"
#include "base/duration.h"

namespace stoker::api {
namespace {

constexpr std::size_t most_rows = 60;

struct Sample {
  std::string time;
  std::optional<double> mean;
  double least = 0;
  double most = 0;
  std::string reason;
};

struct Curve {
  std::string name;
  double step_seconds = 0;
  std::vector<Sample> samples;
};

struct Picture {
  std::string field;
  std::string unit;
  std::string step;
  double since_seconds = 0;
  std::vector<Curve> curves;
};

std::string name_of(const Json& series) {
  if (text_of(series, "entity") == "node") return "node";
  std::string name = series.contains("gpu") && series["gpu"].is_number()
                         ? fmt::format("GPU {}", number_of(series, "gpu"))
                         : text_of(series, "uuid").substr(0, 12);
  if (const auto mig = text_of(series, "mig_uuid"); !mig.empty()) name += " " + mig.substr(0, 12);
  return name;
}

Curve read_curve(const Json& series, const std::string& key) {
  Curve curve{.name = name_of(series), .step_seconds = number_of(series, "step_seconds")};
  for (const Json& sample : list_of(series, "samples")) {
    Sample read{.time = text_of(sample, "time"), .reason = text_of(sample, key + "_reason")};
    if (sample.contains(key) && sample[key].is_number()) {
      read.mean = number_of(sample, key);
      read.least = sample.contains(key + "_min") ? number_of(sample, key + "_min") : *read.mean;
      read.most = sample.contains(key + "_max") ? number_of(sample, key + "_max") : *read.mean;
    }
    curve.samples.push_back(std::move(read));
  }
  return curve;
}

Result<Picture> read_picture(const std::string& document) {
  const auto json = read_document(document);
  if (!json) return fail(json.error());
  Picture picture{.field = text_of(*json, "field"),
                  .unit = text_of(*json, "unit"),
                  .step = text_of(*json, "step"),
                  .since_seconds = number_of(*json, "since_seconds")};
  for (const Json& series : list_of(*json, "series")) {
    picture.curves.push_back(read_curve(series, text_of(*json, "key")));
  }
  return picture;
}

// The mean of what falls into each of `count` equal parts of the time; nothing where nothing does.
std::vector<std::optional<double>> squeezed(const std::vector<Sample>& samples, std::size_t count) {
  const std::size_t parts = std::min(count, samples.size());
  std::vector<std::optional<double>> points(parts);
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t end = (part + 1) * samples.size() / parts;
    double sum = 0;
    std::size_t values = 0;
    for (std::size_t n = part * samples.size() / parts; n < end; ++n) {
      if (!samples[n].mean) continue;
      sum += *samples[n].mean;
      ++values;
    }
    if (values > 0) points[part] = sum / static_cast<double>(values);
  }
  return points;
}

// The same as text: the mean, or why there is none.
std::vector<std::string> words_of_parts(const std::vector<Sample>& samples, std::size_t count) {
  const auto means = squeezed(samples, count);
  std::vector<std::string> words;
  words.reserve(means.size());
  for (std::size_t part = 0; part < means.size(); ++part) {
    words.push_back(means[part] ? short_number(*means[part])
                                : samples[part * samples.size() / means.size()].reason);
  }
  return words;
}

struct Summary {
  double least = 0;
  double mean = 0;
  double most = 0;
  std::optional<double> last;
  bool any = false;
  std::map<std::string, std::size_t> missing;  // samples by reason
};

Summary summary_of(const Curve& curve) {
  Summary summary;
  double sum = 0;
  std::size_t values = 0;
  for (const Sample& sample : curve.samples) {
    if (!sample.mean) {
      ++summary.missing[sample.reason];
      continue;
    }
    summary.least = summary.any ? std::min(summary.least, sample.least) : sample.least;
    summary.most = summary.any ? std::max(summary.most, sample.most) : sample.most;
    summary.any = true;
    sum += *sample.mean;
    ++values;
  }
  if (values > 0) summary.mean = sum / static_cast<double>(values);
  if (!curve.samples.empty()) summary.last = curve.samples.back().mean;
  return summary;
}

std::string words_of(const Curve& curve, const Summary& summary) {
  std::string text = summary.any
                         ? fmt::format("min {} mean {} max {} now {}", short_number(summary.least),
                                       short_number(summary.mean), short_number(summary.most),
                                       summary.last ? short_number(*summary.last) : "none")
                         : "no value";
  for (const auto& [reason, count] : summary.missing) {
    const auto seconds = static_cast<double>(count) * curve.step_seconds;
    text += fmt::format(", {} {}", reason,
                        duration_text(Nanoseconds(static_cast<std::int64_t>(seconds * 1e9))));
  }
  return text;
}

std::string title_of(const Picture& picture) {
  return fmt::format(
      "{}{}, last {}, by {}\n", picture.field,
      picture.unit.empty() ? "" : " (" + picture.unit + ")",
      duration_text(Nanoseconds(static_cast<std::int64_t>(picture.since_seconds * 1e9))),
      picture.step);
}

// "03:10 ... 04:10 UTC" under a curve that begins at column `left`.
std::string time_axis(const Curve& curve, std::size_t left, std::size_t width) {
  const auto clock_of = [](const std::string& time) {
    return time.size() >= 16 ? time.substr(11, 5) : time;
  };
  const std::string first = clock_of(curve.samples.front().time);
  const std::string last = clock_of(curve.samples.back().time) + " UTC";
  const std::size_t used = first.size() + last.size();
  return std::string(left, ' ') + first + std::string(width > used ? width - used : 1, ' ') + last +
         "\n";
}

std::string one_curve(const Curve& curve, const PlotStyle& style) {
  constexpr std::size_t left = 9;
  const std::size_t width = style.width > left + 10 ? style.width - left : 10;
  const auto points = squeezed(curve.samples, width);
  return fmt::format("{}{}{}: {}\n", tall_plot(points, style),
                     time_axis(curve, left, std::max(points.size(), std::size_t{16})), curve.name,
                     words_of(curve, summary_of(curve)));
}

std::string many_curves(const Picture& picture, const PlotStyle& style) {
  std::vector<Summary> summaries;
  double least = 0;
  double most = 0;
  bool any = false;
  std::size_t names = 0;
  for (const Curve& curve : picture.curves) {
    const Summary& summary = summaries.emplace_back(summary_of(curve));
    names = std::max(names, curve.name.size());
    if (!summary.any) continue;
    least = any ? std::min(least, summary.least) : summary.least;
    most = any ? std::max(most, summary.most) : summary.most;
    any = true;
  }
  if (least > 0 && least < most / 2) least = 0;
  const std::size_t width = style.width > names + 12 ? style.width - names - 2 : 10;
  std::string text;
  for (std::size_t n = 0; n < picture.curves.size(); ++n) {
    const Curve& curve = picture.curves[n];
    text += fmt::format("{:<{}}  {}\n", curve.name, names,
                        spark_line(squeezed(curve.samples, width), least, most, style.unicode));
    text += fmt::format("{:<{}}  {}\n", "", names, words_of(curve, summaries[n]));
  }
  return text;
}

}  // namespace

Result<std::string> plot_history(const std::string& document, const PlotStyle& style) {
  const auto picture = read_picture(document);
  if (!picture) return fail(picture.error());
  std::string text = title_of(*picture);
  const bool empty = std::ranges::all_of(picture->curves,
                                         [](const Curve& curve) { return curve.samples.empty(); });
  if (empty) return text + "nothing was read yet in that time\n";
  if (picture->curves.size() == 1) return text + one_curve(picture->curves.front(), style);
  return text + many_curves(*picture, style);
}

Result<std::string> view_history(const std::string& document) {
  const auto picture = read_picture(document);
  if (!picture) return fail(picture.error());
  std::vector<Column> columns = {{"TIME (UTC)"}};
  std::size_t longest = 0;
  const Curve* reference = nullptr;
  for (const Curve& curve : picture->curves) {
    columns.push_back({curve.name, Align::right});
    if (curve.samples.size() > longest) reference = &curve;
    longest = std::max(longest, curve.samples.size());
  }
  TextTable table(columns);
  const std::size_t rows = std::min(most_rows, longest);
  std::vector<std::vector<std::string>> cells;
  for (const Curve& curve : picture->curves) {
    cells.push_back(words_of_parts(curve.samples, rows));
  }
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::string> line = {reference->samples[row * longest / rows].time.substr(0, 19)};
    for (const auto& column : cells) {
      // A shorter series ends where the longest does.
      const std::size_t behind = rows - column.size();
      line.push_back(row < behind ? "" : column[row - behind]);
    }
    table.add(std::move(line));
  }
  return title_of(*picture) + table.text();
}

}  // namespace stoker::api
