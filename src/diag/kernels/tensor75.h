// Diag stage, kernels: tensor cores since Turing: fp16 and int8.
#pragma once

#include "diag/kernels/tile.h"

namespace stoker::diag {

// mma.m16n8k8, fp16 with fp32 sums
struct TensorFp16 {
  using Sum = float;
  static constexpr uint32_t rows = 16;
  static constexpr uint32_t depth = 8;
#if defined(__CUDA__)
  STOKER_BODY static void multiply(uint32_t lane, uint32_t seed, uint32_t k, Sum* sums) {
    const uint32_t at = k + lane % 4 * 2;
    const uint32_t a0 = left_register<HalfNumbers, 2>(seed, lane / 4, at);
    const uint32_t a1 = left_register<HalfNumbers, 2>(seed, lane / 4 + 8, at);
    const uint32_t b = right_register<HalfNumbers, 2>(seed, at, lane / 4);
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a0), "r"(a1), "r"(b));
  }
#endif
};

// mma.m8n8k16, int8 with int32 sums
struct TensorInt8 {
  using Sum = int32_t;
  static constexpr uint32_t rows = 8;
  static constexpr uint32_t depth = 16;
#if defined(__CUDA__)
  STOKER_BODY static void multiply(uint32_t lane, uint32_t seed, uint32_t k, Sum* sums) {
    const uint32_t at = k + lane % 4 * 4;
    const uint32_t a = left_register<Int8Numbers, 4>(seed, lane / 4, at);
    const uint32_t b = right_register<Int8Numbers, 4>(seed, at, lane / 4);
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+r"(sums[0]), "+r"(sums[1])
                 : "r"(a), "r"(b));
  }
#endif
};

STOKER_BODY void compute_tensor75(const Thread& thread, const ComputeArgs& args) {
  const bool whole = static_cast<Kind>(args.kind) == Kind::tensor_int8;
  add_digest(thread, args,
             whole ? tile_value<TensorInt8>(thread, args.seed, args.rounds)
                   : tile_value<TensorFp16>(thread, args.seed, args.rounds));
}

}  // namespace stoker::diag
