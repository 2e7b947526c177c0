// Diag stage, kernels: the matrix product by mma.sync. A block of 256 threads computes 128 x 256 cells, a warp 64 x 64 of
// them; rows of 32 numbers of A and B come to shared memory in a ring of stages. Part layouts are those of the PTX ISA
// (mma.m16n8k16 and .m16n8k8, ldmatrix).
#pragma once

#include "diag/kernels/matrix.h"

namespace stoker::diag {

inline constexpr uint32_t product_rows = 128;
inline constexpr uint32_t product_columns = 256;
inline constexpr uint32_t product_depth = 32;
inline constexpr uint32_t product_threads = 256;
inline constexpr uint32_t product_stage_bytes =
    (product_rows + product_columns) * product_depth * 2;

#if defined(__CUDA__)

// A row of a stage has four pieces of 16 bytes. They are exchanged so that eight rows read at one piece meet all banks.
STOKER_BODY uint32_t stage_offset(uint32_t row, uint32_t piece) {
  return row * 64 + ((piece ^ ((row >> 1) & 3U)) << 4);
}

STOKER_BODY void block_barrier() { asm volatile("bar.sync 0;" : : : "memory"); }

STOKER_BODY void load_matrices(uint32_t address, uint32_t* out) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(address)
               : "memory");
}

// Neighbouring blocks work on the same rows of A and on few of B, so that both stay in the L2 cache.
STOKER_BODY void tile_of(uint32_t block, uint32_t rows, uint32_t columns, uint32_t& row,
                         uint32_t& column) {
  constexpr uint32_t group = 8;
  const uint32_t in_group = group * columns;
  const uint32_t first = block / in_group * group;
  const uint32_t height = rows - first < group ? rows - first : group;
  row = first + block % in_group % height;
  column = block % in_group / height;
}

template <typename Unit>
class Product {
 public:
  STOKER_BODY Product(const MatrixArgs& args, uint32_t block, uint32_t lane, uint32_t shared)
      : args_(args), thread_(lane), shared_(shared) {
    uint32_t row = 0;
    uint32_t column = 0;
    tile_of(block, args.m / product_rows, args.n / product_columns, row, column);
    row_ = row * product_rows;
    column_ = column * product_columns;
  }

  STOKER_BODY void run() {
    const uint32_t steps = args_.k / product_depth;
    for (uint32_t i = 0; i + 1 < Unit::stages; ++i) {
      if (i < steps) fetch(i);
      Unit::close_stage();
    }
    for (uint32_t step = 0; step < steps; ++step) {
      Unit::wait_for_stage();
      block_barrier();
      const uint32_t next = step + Unit::stages - 1;
      if (next < steps) fetch(next);
      Unit::close_stage();
      multiply(step);
    }
    store();
  }

 private:
  STOKER_BODY uint32_t stage(uint32_t step) const {
    return shared_ + step % Unit::stages * product_stage_bytes;
  }

  STOKER_BODY void fetch(uint32_t step) {
    const uint32_t piece = thread_ % 4;
    const uint64_t k = uint64_t{step} * product_depth + piece * 8;
    const uint32_t base = stage(step);
    for (uint32_t row = thread_ / 4; row < product_rows; row += product_threads / 4) {
      Unit::copy(base + stage_offset(row, piece), args_.a + (uint64_t{row_} + row) * args_.k + k);
    }
    const uint32_t second = base + product_rows * 64;
    for (uint32_t row = thread_ / 4; row < product_columns; row += product_threads / 4) {
      Unit::copy(second + stage_offset(row, piece),
                 args_.b + (uint64_t{column_} + row) * args_.k + k);
    }
  }

  STOKER_BODY void multiply(uint32_t step) {
    const uint32_t lane = thread_ % 32;
    const uint32_t warp = thread_ / 32;
    const uint32_t left = stage(step);
    const uint32_t right = left + product_rows * 64;
#pragma unroll
    for (uint32_t half = 0; half < 2; ++half) {
      uint32_t a[4][4];
      uint32_t b[4][4];
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t row = warp / 4 * 64 + i * 16 + lane % 16;
        load_matrices(left + stage_offset(row, half * 2 + lane / 16), a[i]);
      }
#pragma unroll
      for (uint32_t j = 0; j < 4; ++j) {
        const uint32_t row = warp % 4 * 64 + j * 16 + lane / 16 * 8 + lane % 8;
        load_matrices(right + stage_offset(row, half * 2 + lane / 8 % 2), b[j]);
      }
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
#pragma unroll
        for (uint32_t j = 0; j < 8; ++j) Unit::multiply(a[i], b[j / 2] + j % 2 * 2, sums_[i][j]);
      }
    }
  }

  STOKER_BODY void store() {
    const uint32_t lane = thread_ % 32;
    const uint32_t warp = thread_ / 32;
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
#pragma unroll
      for (uint32_t j = 0; j < 8; ++j) {
#pragma unroll
        for (uint32_t lower = 0; lower < 2; ++lower) {
          const uint64_t row = row_ + warp / 4 * 64 + i * 16 + lower * 8 + lane / 4;
          const uint64_t column = column_ + warp % 4 * 64 + j * 8 + lane % 4 * 2;
          const float* two = sums_[i][j] + lower * 2;
          *reinterpret_cast<uint32_t*>(args_.c + row * args_.n + column) =
              Unit::packed(two[0], two[1]);
        }
      }
    }
  }

  const MatrixArgs& args_;
  const uint32_t thread_;
  const uint32_t shared_;
  uint32_t row_ = 0;
  uint32_t column_ = 0;
  float sums_[4][8][4] = {};
};

#endif

}  // namespace stoker::diag
