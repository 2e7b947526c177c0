// Diag stage: the same sums on every multiprocessor (SM) against a reference, so that one that computes wrongly has a name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "diag/card.h"
#include "diag/kernels/compute.h"
#include "diag/measurement.h"

namespace stoker::diag {

struct KindRow {
  std::string_view name;  // "tensor_bf16"
  std::string_view text;  // "bf16 tensor core"
  Kernel kernel = Kernel::compute;
};
const KindRow& row_of(Kind kind);

struct ComputeOptions {
  std::uint32_t rounds = 64;      // of the arithmetic of one block
  std::uint32_t repeats = 20;     // launches, each of which has to give the same
  int wrong_multiprocessor = -1;  // flips a bit there, to show that it is found
};

// What a block computes where nothing is wrong: from the same body, run by this host.
std::uint32_t reference_digest(Kind kind, std::uint32_t threads, std::uint32_t rounds,
                               std::uint32_t seed);

// Tests compute_<kind>, one for each kind: the number of multiprocessors that computed wrongly, each named. A
// multiprocessor that no block ran on makes it hindered.
std::vector<Measurement> check_compute(Card& card, const ComputeOptions& options);

}  // namespace stoker::diag
