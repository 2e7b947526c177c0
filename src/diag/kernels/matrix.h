// Diag stage, kernels: what the matrix product of every architecture shares: C = A * B^T, all row by row; A has m rows of
// k, B n rows of k, C m rows of n; inputs are bf16 (fp16 before Ampere), sums fp32.
#pragma once

#include "diag/kernels/compute.h"

namespace stoker::diag {

struct MatrixArgs {
  const uint16_t* a;
  const uint16_t* b;
  uint16_t* c;
  uint32_t m;
  uint32_t n;
  uint32_t k;        // multiples of the kernel's tile
  uint32_t half;     // 1: fp16, 0: bf16
  const void* maps;  // two tensor maps of the driver, A's and B's; where the kernel needs them
};

struct NormalArgs {
  uint16_t* out;
  uint64_t count;
  uint32_t seed;
  uint32_t half;
};

STOKER_BODY float ln_of(float x) {
#if defined(__CUDA__)
  return __nvvm_lg2_approx_f(x) * 0.693147181F;
#else
  return __builtin_logf(x);
#endif
}
STOKER_BODY float root_of(float x) {
#if defined(__CUDA__)
  return __nvvm_sqrt_approx_f(x);
#else
  return __builtin_sqrtf(x);
#endif
}
STOKER_BODY float cosine_of(float x) {
#if defined(__CUDA__)
  return __nvvm_cos_approx_f(x);
#else
  return __builtin_cosf(x);
#endif
}

// N(0,1) by Box and Muller (Annals of Mathematical Statistics 29, 1958).
STOKER_BODY float normal_number(uint64_t number, uint32_t seed) {
  const uint32_t first =
      mixed(static_cast<uint32_t>(number) ^ mixed(seed + static_cast<uint32_t>(number >> 32)));
  const uint32_t second = mixed(first ^ 0x9e3779b9U);
  const float u = (static_cast<float>(first >> 8) + 0.5F) * 0x1p-24F;  // in (0, 1)
  const float v = static_cast<float>(second >> 8) * 0x1p-24F;
  return root_of(-2.0F * ln_of(u)) * cosine_of(6.28318531F * v);
}

// Rounded to the nearest, ties to even.
STOKER_BODY uint16_t bfloat16_of(float value) {
  const uint32_t bits = bits_of(value);
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}
STOKER_BODY float value_of_bfloat16(uint16_t bits) {
  return __builtin_bit_cast(float, uint32_t{bits} << 16);
}

// The same for fp16; what lies below its normal numbers becomes 0, above them infinity.
STOKER_BODY uint16_t float16_of(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t size = bits & 0x7fffffffU;
  if (size < 0x38800000U) return static_cast<uint16_t>(sign);
  if (size >= 0x477ff000U) return static_cast<uint16_t>(sign | 0x7c00U);
  const uint32_t rounded = size + 0xfffU + ((size >> 13) & 1U);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
}
STOKER_BODY float value_of_float16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000U} << 16;
  const uint32_t size = bits & 0x7fffU;
  if (size < 0x400U) return __builtin_bit_cast(float, sign);
  return __builtin_bit_cast(float, sign | ((size << 13) + 0x38000000U));
}
STOKER_BODY float number_of(uint16_t bits, bool half) {
  return half ? value_of_float16(bits) : value_of_bfloat16(bits);
}
STOKER_BODY uint16_t bits_of(float value, bool half) {
  return half ? float16_of(value) : bfloat16_of(value);
}

STOKER_BODY void normal(const Thread& thread, const NormalArgs& args) {
  for (uint64_t at = thread.index(); at < args.count; at += thread.count()) {
    args.out[at] = bits_of(normal_number(at, args.seed), args.half != 0);
  }
}

struct DigestArgs {
  const Words* from;
  uint64_t count;
  uint32_t* digest;  // one word, zeroed
};

// The same number of the same content, whatever the threads.
STOKER_BODY void digest(const Thread& thread, const DigestArgs& args) {
  uint32_t sum = 0;
  for (uint64_t at = thread.index(); at < args.count; at += thread.count()) {
    const Words words = args.from[at];
    const auto place = static_cast<uint32_t>(at * 4);
    for (uint32_t i = 0; i < 4; ++i) sum += mixed(words[i] ^ mixed(place + i));
  }
  __atomic_fetch_add(args.digest, sum, __ATOMIC_RELAXED);
}

#if !defined(__CUDA__)
// The product, cell by cell.
inline void multiply_plainly(const Thread& thread, const MatrixArgs& args) {
  const uint64_t cells = uint64_t{args.m} * args.n;
  for (uint64_t at = thread.index(); at < cells; at += thread.count()) {
    const uint64_t row = at / args.n;
    const uint64_t column = at % args.n;
    float sum = 0;
    for (uint64_t i = 0; i < args.k; ++i) {
      sum += number_of(args.a[row * args.k + i], args.half != 0) *
             number_of(args.b[column * args.k + i], args.half != 0);
    }
    args.c[at] = bits_of(sum, args.half != 0);
  }
}
inline void matrix75(const Thread& thread, const MatrixArgs& args) {
  multiply_plainly(thread, args);
}
inline void matrix80(const Thread& thread, const MatrixArgs& args) {
  multiply_plainly(thread, args);
}
inline void matrix90(const Thread& thread, const MatrixArgs& args) {
  multiply_plainly(thread, args);
}
#endif

}  // namespace stoker::diag
