// Diag stage, kernels: the same sums on every SM. The result of each unit is folded into one number a block, so that
// one wrong bit in one SM gives a number that is not the reference's, and the SM has a name. All sums are such that
// their result is the same on every IEEE machine: fused multiply-adds in a fixed order, or small whole numbers whose
// sums fp16, bf16, fp8 and int8 hold exactly, in whatever order a tensor core adds them.
#pragma once

#include "diag/kernels/thread.h"

namespace stoker::diag {

// What is computed; each has a row in compute_kinds.def.
enum class Kind : uint32_t {
#define STOKER_COMPUTE_KIND(name, text, kernel) name,
#include "diag/compute_kinds.def"
#undef STOKER_COMPUTE_KIND
  count_
};

// What one block did: on which SM, and what came out.
struct BlockDigest {
  uint32_t sm;
  uint32_t done;  // threads that have added theirs
  uint32_t digest;
  uint32_t unused;
};

struct ComputeArgs {
  BlockDigest* blocks;
  uint32_t kind;    // Kind
  uint32_t rounds;  // of a few hundred operations each
  uint32_t seed;
  int32_t wrong_sm;  // this SM flips a bit, to show that it is found; -1: none
};

STOKER_BODY uint32_t bits_of(float value) { return __builtin_bit_cast(uint32_t, value); }
STOKER_BODY uint64_t bits_of(double value) { return __builtin_bit_cast(uint64_t, value); }

// In [1, 2), different for every x.
STOKER_BODY float unit_float(uint32_t x) {
  return __builtin_bit_cast(float, 0x3f800000U | (mixed(x) >> 9));
}

// -4 .. 3
STOKER_BODY int32_t small_number(uint32_t x) { return static_cast<int32_t>(mixed(x) & 7U) - 4; }

// A chain of fused multiply-adds that stays near 1, so that each bit of the result depends on all that went before.
STOKER_BODY uint32_t fp32_chain(uint32_t seed, uint32_t rounds) {
  float x = unit_float(seed);
  const float a = unit_float(seed ^ 0x9e3779b9U);
  for (uint32_t i = 0; i < rounds * 64; ++i) {
    x = __builtin_fmaf(x, a, 0.37F);
    x = __builtin_fmaf(x, 0.23F, a);
  }
  return mixed(bits_of(x));
}

STOKER_BODY uint32_t fp64_chain(uint32_t seed, uint32_t rounds) {
  double x = static_cast<double>(unit_float(seed));
  const double a = static_cast<double>(unit_float(seed ^ 0x9e3779b9U));
  for (uint32_t i = 0; i < rounds * 16; ++i) {
    x = __builtin_fma(x, a, 0.37);
    x = __builtin_fma(x, 0.23, a);
  }
  const uint64_t bits = bits_of(x);
  return mixed(static_cast<uint32_t>(bits) ^ mixed(static_cast<uint32_t>(bits >> 32)));
}

// fp16 of a whole number of at most 11 bits, which it holds exactly (IEEE 754 binary16).
STOKER_BODY uint32_t half_of(int32_t number) {
  if (number == 0) return 0;
  const uint32_t sign = number < 0 ? 0x8000U : 0U;
  const auto size = static_cast<uint32_t>(number < 0 ? -number : number);
  const auto exponent = static_cast<uint32_t>(31 - __builtin_clz(size));
  return sign | ((exponent + 15U) << 10) | ((size << (10U - exponent)) & 0x3ffU);
}

#if defined(__CUDA__)
STOKER_BODY uint32_t half_chain_step(uint32_t a, uint32_t b, uint32_t sum) {
  uint32_t out = 0;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(sum));
  return out;
}
STOKER_BODY int32_t dot4(uint32_t a, uint32_t b, int32_t sum) {
  int32_t out = 0;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(sum));
  return out;
}
#else
STOKER_BODY int32_t dot4(uint32_t a, uint32_t b, int32_t sum) {
  for (uint32_t i = 0; i < 4; ++i) {
    sum += static_cast<int8_t>(a >> (8 * i)) * static_cast<int8_t>(b >> (8 * i));
  }
  return sum;
}
#endif

// Two sums of 32 products each, |sum| <= 32 * 16 = 512: exact in fp16. -0 can't come out: sums begin at +0 and
// fma rounds to +0 (IEEE 754-2019, 6.3).
STOKER_BODY uint32_t fp16_sums(uint32_t seed) {
#if defined(__CUDA__)
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t at = seed + i * 4;
    const uint32_t a = half_of(small_number(at)) | (half_of(small_number(at + 1)) << 16);
    const uint32_t b = half_of(small_number(at + 2)) | (half_of(small_number(at + 3)) << 16);
    sum = half_chain_step(a, b, sum);
  }
  return sum;
#else
  int32_t low = 0;
  int32_t high = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t at = seed + i * 4;
    low += small_number(at) * small_number(at + 2);
    high += small_number(at + 1) * small_number(at + 3);
  }
  return half_of(low) | (half_of(high) << 16);
#endif
}

STOKER_BODY uint32_t fp16_chain(uint32_t seed, uint32_t rounds) {
  uint32_t digest = 0;
  for (uint32_t i = 0; i < rounds; ++i) digest = mixed(digest ^ fp16_sums(seed + i * 128));
  return digest;
}

STOKER_BODY uint32_t int8_chain(uint32_t seed, uint32_t rounds) {
  uint32_t digest = seed;
  for (uint32_t i = 0; i < rounds * 64; ++i) {
    const int32_t sum = dot4(digest, digest ^ 0x3c6ef372U, static_cast<int32_t>(i));
    digest = mixed(digest ^ static_cast<uint32_t>(sum));
  }
  return digest;
}

STOKER_BODY uint32_t chain(Kind kind, uint32_t seed, uint32_t rounds) {
  switch (kind) {
    case Kind::fp32: return fp32_chain(seed, rounds);
    case Kind::fp64: return fp64_chain(seed, rounds);
    case Kind::fp16: return fp16_chain(seed, rounds);
    default: return int8_chain(seed, rounds);
  }
}

// Adds what one thread found to its block's number; the order of threads does not matter.
STOKER_BODY void add_digest(const Thread& thread, const ComputeArgs& args, uint32_t value) {
  BlockDigest& block = args.blocks[thread.block];
  block.sm = thread.sm;
  if (static_cast<int32_t>(thread.sm) == args.wrong_sm && thread.lane == 0) value ^= 1U << 7;
  __atomic_fetch_xor(&block.digest, value, __ATOMIC_RELAXED);
  __atomic_fetch_add(&block.done, 1U, __ATOMIC_RELAXED);
}

// Every block computes the same; args.blocks has one zeroed entry a block.
STOKER_BODY void compute(const Thread& thread, const ComputeArgs& args) {
  const uint32_t seed = mixed(args.seed + thread.lane);
  add_digest(thread, args,
             mixed(chain(static_cast<Kind>(args.kind), seed, args.rounds) + thread.lane));
}

}  // namespace stoker::diag
