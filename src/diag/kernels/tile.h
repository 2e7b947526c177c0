// Diag stage, kernels: products of small whole numbers on tensor cores. A warp multiplies one tile; its cells are folded
// into one number. On the host the same tile is multiplied number by number, so the host's result is the reference.
// The layouts of fragments are those of the PTX ISA, "Matrix Fragments for mma" of each shape
// (https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions-mma).
#pragma once

#include "diag/kernels/compute.h"

namespace stoker::diag {

inline constexpr uint32_t tile_steps = 16;  // products of one tile that are added up

STOKER_BODY int32_t left_number(uint32_t seed, uint32_t row, uint32_t k) {
  return small_number(seed + (row << 16) + k);
}
STOKER_BODY int32_t right_number(uint32_t seed, uint32_t k, uint32_t column) {
  return small_number(~seed - (column << 16) - k);
}
STOKER_BODY uint32_t folded_cell(uint32_t seed, uint32_t row, uint32_t column, uint32_t bits) {
  return mixed(bits ^ mixed(seed + (row << 8) + column));
}

// How each unit writes a small whole number, and the sum of products.
struct HalfNumbers {
  STOKER_BODY static uint32_t of(int32_t number) { return half_of(number); }
};
struct Bfloat16Numbers {
  STOKER_BODY static uint32_t of(int32_t number) {
    return bits_of(static_cast<float>(number)) >> 16;  // 8 bits of significand: exact up to 256
  }
};
struct Fp8Numbers {  // e4m3: OCP 8-bit Floating Point Specification 1.0, section 5
  STOKER_BODY static uint32_t of(int32_t number) {
    if (number == 0) return 0;
    const uint32_t half = half_of(number);
    const uint32_t exponent = ((half >> 10) & 31U) - 8U;  // bias 15 -> 7
    return (half >> 15 << 7) | (exponent << 3) | ((half >> 7) & 7U);
  }
};
struct Int8Numbers {
  STOKER_BODY static uint32_t of(int32_t number) { return static_cast<uint32_t>(number) & 0xffU; }
};

// `count` numbers of `bits` each in one register, from column (or row) k on.
template <typename Numbers, uint32_t count>
STOKER_BODY uint32_t left_register(uint32_t seed, uint32_t row, uint32_t k) {
  uint32_t out = 0;
  for (uint32_t i = 0; i < count; ++i) {
    out |= Numbers::of(left_number(seed, row, k + i)) << (32 / count * i);
  }
  return out;
}
template <typename Numbers, uint32_t count>
STOKER_BODY uint32_t right_register(uint32_t seed, uint32_t k, uint32_t column) {
  uint32_t out = 0;
  for (uint32_t i = 0; i < count; ++i) {
    out |= Numbers::of(right_number(seed, k + i, column)) << (32 / count * i);
  }
  return out;
}

STOKER_BODY uint32_t folded_bits(float sum) { return bits_of(sum); }
STOKER_BODY uint32_t folded_bits(int32_t sum) { return static_cast<uint32_t>(sum); }
STOKER_BODY uint32_t folded_bits(double sum) {
  return static_cast<uint32_t>(bits_of(sum)) ^ static_cast<uint32_t>(bits_of(sum) >> 32);
}

// Where the sums of a lane lie in the tile: two beside each other in row lane / 4, and with four sums two more, eight
// rows below.
template <typename Unit>
STOKER_BODY uint32_t folded_lane(uint32_t lane, uint32_t seed, const typename Unit::Sum* sums) {
  uint32_t out = 0;
  for (uint32_t i = 0; i < Unit::rows / 4; ++i) {
    out ^= folded_cell(seed, lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2, folded_bits(sums[i]));
  }
  return out;
}

#if !defined(__CUDA__)
template <typename Unit>
uint32_t folded_tile(uint32_t seed) {
  uint32_t out = 0;
  for (uint32_t row = 0; row < Unit::rows; ++row) {
    for (uint32_t column = 0; column < 8; ++column) {
      int32_t sum = 0;
      for (uint32_t k = 0; k < Unit::depth * tile_steps; ++k) {
        sum += left_number(seed, row, k) * right_number(seed, k, column);
      }
      out ^= folded_cell(seed, row, column, folded_bits(static_cast<typename Unit::Sum>(sum)));
    }
  }
  return out;
}
#endif

// Each warp has tiles of its own. On the host the first lane of a warp does the work of all.
template <typename Unit>
STOKER_BODY uint32_t tile_value(const Thread& thread, uint32_t first_seed, uint32_t rounds) {
  uint32_t out = 0;
  for (uint32_t round = 0; round < rounds; ++round) {
    const uint32_t seed = mixed(first_seed + (thread.lane / 32 << 20) + round);
#if defined(__CUDA__)
    typename Unit::Sum sums[Unit::rows / 4] = {};
    for (uint32_t step = 0; step < tile_steps; ++step) {
      Unit::multiply(thread.lane % 32, seed, step * Unit::depth, sums);
    }
    out ^= folded_lane<Unit>(thread.lane % 32, seed, sums);
#else
    if (thread.lane % 32 == 0) out ^= folded_tile<Unit>(seed);
#endif
  }
  return out;
}

}  // namespace stoker::diag
