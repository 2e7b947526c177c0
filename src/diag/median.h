// Diag stage: the median of what was measured.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stoker::diag {

// The middle one; of an even number the higher of the two in the middle. 0 of none.
inline double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace stoker::diag
