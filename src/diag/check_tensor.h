// Diag stage: products of large matrices: right, fast, and for long enough that power and clocks show.
#pragma once

#include <functional>
#include <vector>

#include "diag/card.h"
#include "diag/measurement.h"

namespace stoker::diag {

struct TensorOptions {
  double load_seconds = 10;
  double library_seconds = 3;     // of the same load by cuBLAS, so that its power can be read too
  std::function<bool()> stopped;  // asked between launches; may be empty
};

// Tests:
//   tensor_check          wrong cells among those computed again by the host in fp64, and repeats that differ in a bit
//   tensor_<rows>         operations_per_second, median of 10, inputs N(0,1)
//   cublas_<rows>         the same arrays and moments by cuBLAS; absent without it
//   tensor_load           operations_per_second over load_seconds; wrong if a result differed from the first
//   cublas_load           the same by cuBLAS
std::vector<Measurement> check_tensor(Card& card, const TensorOptions& options);

}  // namespace stoker::diag
