// Diag stage, kernels: tensor cores since Ada and Hopper: fp8.
#pragma once

#include "diag/kernels/tile.h"

namespace stoker::diag {

// mma.m16n8k32, e4m3 with fp32 sums. |sum| <= 16 * 32 * 16 = 2^13, which is exact also where a tensor core keeps fewer
// bits of a sum of fp8 products than fp32 has (DeepSeek-V3 Technical Report, arXiv 2412.19437, section 3.3.2: about 14).
struct TensorFp8 {
  using Sum = float;
  static constexpr uint32_t rows = 16;
  static constexpr uint32_t depth = 32;
#if defined(__CUDA__)
  STOKER_BODY static void multiply(uint32_t lane, uint32_t seed, uint32_t k, Sum* sums) {
    const uint32_t at = k + lane % 4 * 4;
    const uint32_t a0 = left_register<Fp8Numbers, 4>(seed, lane / 4, at);
    const uint32_t a1 = left_register<Fp8Numbers, 4>(seed, lane / 4 + 8, at);
    const uint32_t a2 = left_register<Fp8Numbers, 4>(seed, lane / 4, at + 16);
    const uint32_t a3 = left_register<Fp8Numbers, 4>(seed, lane / 4 + 8, at + 16);
    const uint32_t b0 = right_register<Fp8Numbers, 4>(seed, at, lane / 4);
    const uint32_t b1 = right_register<Fp8Numbers, 4>(seed, at + 16, lane / 4);
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
#endif
};

STOKER_BODY void compute_tensor89(const Thread& thread, const ComputeArgs& args) {
  add_digest(thread, args, tile_value<TensorFp8>(thread, args.seed, args.rounds));
}

}  // namespace stoker::diag
