// Diag stage, kernels: tensor cores since Ampere: bf16 and fp64.
#pragma once

#include "diag/kernels/tile.h"

namespace stoker::diag {

// mma.m16n8k16, bf16 with fp32 sums
struct TensorBf16 {
  using Sum = float;
  static constexpr uint32_t rows = 16;
  static constexpr uint32_t depth = 16;
#if defined(__CUDA__)
  STOKER_BODY static void multiply(uint32_t lane, uint32_t seed, uint32_t k, Sum* sums) {
    const uint32_t at = k + lane % 4 * 2;
    const uint32_t a0 = left_register<Bfloat16Numbers, 2>(seed, lane / 4, at);
    const uint32_t a1 = left_register<Bfloat16Numbers, 2>(seed, lane / 4 + 8, at);
    const uint32_t a2 = left_register<Bfloat16Numbers, 2>(seed, lane / 4, at + 8);
    const uint32_t a3 = left_register<Bfloat16Numbers, 2>(seed, lane / 4 + 8, at + 8);
    const uint32_t b0 = right_register<Bfloat16Numbers, 2>(seed, at, lane / 4);
    const uint32_t b1 = right_register<Bfloat16Numbers, 2>(seed, at + 8, lane / 4);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
#endif
};

// mma.m8n8k4, fp64
struct TensorFp64 {
  using Sum = double;
  static constexpr uint32_t rows = 8;
  static constexpr uint32_t depth = 4;
#if defined(__CUDA__)
  STOKER_BODY static void multiply(uint32_t lane, uint32_t seed, uint32_t k, Sum* sums) {
    const double a = left_number(seed, lane / 4, k + lane % 4);
    const double b = right_number(seed, k + lane % 4, lane / 4);
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(sums[0]), "+d"(sums[1])
                 : "d"(a), "d"(b));
  }
#endif
};

STOKER_BODY void compute_tensor80(const Thread& thread, const ComputeArgs& args) {
  const bool wide = static_cast<Kind>(args.kind) == Kind::tensor_fp64;
  add_digest(thread, args,
             wide ? tile_value<TensorFp64>(thread, args.seed, args.rounds)
                  : tile_value<TensorBf16>(thread, args.seed, args.rounds));
}

}  // namespace stoker::diag
