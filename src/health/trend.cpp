#include "health/trend.h"

#include <algorithm>

namespace stoker::health {
namespace {

constexpr int samples_a_window = 16;
// The one from before the window, the newest, and two while one is put in and others are taken out.
constexpr std::size_t most_samples = samples_a_window + 4;
constexpr double percent = 100;

}  // namespace

void Trend::add(MonotonicTime at, double value, Nanoseconds window, bool counter) {
  if (!samples_.empty() && at <= samples_.back().at) return;
  if (counter && !samples_.empty() && value < samples_.back().value) {
    samples_.clear();
    first_.reset();
  }
  previous_ = samples_.empty() ? std::nullopt : std::optional(samples_.back().value);
  if (!first_) first_ = value;
  const auto count = samples_.size();
  if (count >= 2 && at - samples_[count - 2].at < window / samples_a_window) samples_.pop_back();
  // At once what a full window takes: windows are up to a day long, and memory is not to grow for as long.
  if (samples_.empty() && window > Nanoseconds{0}) samples_.reserve(most_samples);
  samples_.push_back({at, value});
  // One sample from before the window's begin stays, unless it is from so long before that it says little.
  while (samples_.size() > 2 && at - samples_[1].at >= window) samples_.erase(samples_.begin());
  while (samples_.size() > 1 && at - samples_.front().at > 2 * window)
    samples_.erase(samples_.begin());
}

Nanoseconds Trend::span() const {
  return samples_.size() < 2 ? Nanoseconds{0} : samples_.back().at - samples_.front().at;
}

std::optional<double> Trend::increase(Nanoseconds window) const {
  const Nanoseconds covered = span();
  if (covered <= Nanoseconds{0}) return std::nullopt;
  const double all = samples_.back().value - samples_.front().value;
  const double share = static_cast<double>(window.count()) / static_cast<double>(covered.count());
  return all * std::min(share, 1.0);
}

std::optional<double> Trend::percent_of_time(Nanoseconds window) const {
  const Nanoseconds covered = span();
  if (covered <= Nanoseconds{0} || covered < window / 2) return std::nullopt;
  const double held = samples_.back().value - samples_.front().value;
  return std::clamp(held / static_cast<double>(covered.count()) * percent, 0.0, percent);
}

std::optional<double> Trend::since_first() const {
  if (samples_.empty() || !first_) return std::nullopt;
  return samples_.back().value - *first_;
}

std::optional<double> Trend::since_last() const {
  if (samples_.empty() || !previous_) return std::nullopt;
  return samples_.back().value - *previous_;
}

}  // namespace stoker::health
