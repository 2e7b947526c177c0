#include "event/log_scan.h"

#include <algorithm>
#include <utility>

#include "event/sign_search.h"

namespace stoker::event {
namespace {

constexpr std::size_t longest_unit = std::size_t{1} << 20U;

}  // namespace

LogScan::LogScan(std::string name, Take take) : name_(std::move(name)), take_(std::move(take)) {}

// Between the lines of a log, or between the entries of a journal's export.
std::string_view LogScan::separator() const { return export_ ? "\n\n" : "\n"; }

void LogScan::add(std::string_view bytes) {
  held_ += bytes;
  if (!begun_) {
    if (held_.size() < std::string_view("__CURSOR=").size()) return;
    begun_ = true;
    export_ = is_export(held_);
  }
  const auto last = held_.rfind(separator());
  std::size_t whole = last == std::string::npos ? 0 : last + separator().size();
  if (held_.size() - whole > longest_unit) whole = held_.size();
  if (whole == 0) return;
  read_all(std::string_view(held_).substr(0, whole));
  held_.erase(0, whole);
}

void LogScan::finish() {
  begun_ = true;
  export_ = is_export(held_) || export_;
  read_all(held_);
  held_.clear();
}

// `text` ends where a unit ends. Only units that have a sign are read.
void LogScan::read_all(std::string_view text) {
  std::size_t counted = 0;
  std::uint64_t line = line_;
  for (auto at = find_sign(text); at != std::string_view::npos;) {
    const auto before = at == 0 ? std::string_view::npos : text.rfind(separator(), at - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + separator().size();
    const std::size_t end = std::min(text.find(separator(), at), text.size());
    line += count_lines(text.substr(counted, begin - counted));
    counted = begin;
    read_unit(text.substr(begin, end - begin), offset_ + begin, line);
    if (end == text.size()) break;
    at = find_sign(text, end);
  }
  line_ = line + count_lines(text.substr(counted));
  offset_ += text.size();
}

void LogScan::read_unit(std::string_view unit, std::uint64_t offset, std::uint64_t line) {
  const LogLine read = lines_.read(unit);
  events_.clear();
  parser_.read({.text = read.text, .program = read.program, .kernel = read.kernel}, events_);
  for (auto& event : events_) {
    event.time = read.time.wall;
    event.origin = {.boot = read.boot, .source = name_, .offset = offset};
    take_({.event = std::move(event), .line = line, .time = read.time});
  }
}

}  // namespace stoker::event
