// Diag stage, kernels: module `matrix90`: the product of bf16 matrices on Hopper: wgmma on tiles that the copy engine
// (TMA) brings. Two blocks are a cluster: they work on tiles above each other, and each brings half of the rows of B for
// both. One warp group of a block asks for tiles, two multiply 64 x 256 cells each. Layouts: PTX ISA, "Asynchronous
// Warpgroup Level Matrix Instructions"; the ring of full and empty barriers is that of its "mbarrier" section.
#include "diag/kernels/matrix90.h"
#include "diag/kernels/wgmma.h"

namespace stoker::diag {

constexpr uint32_t stage_bytes = (matrix90_rows + matrix90_columns) * matrix90_depth * 2;
constexpr uint32_t half_columns = matrix90_columns / 2;

extern __attribute__((shared, aligned(1024))) char matrix90_stages[];

// Where things lie in shared memory.
struct Ring {
  uint32_t stages;    // address of the first, a multiple of 1024
  uint32_t barriers;  // full ones, then empty ones, 8 bytes each

  STOKER_BODY uint32_t a(uint32_t at) const { return stages + at * stage_bytes; }
  STOKER_BODY uint32_t b(uint32_t at) const { return a(at) + matrix90_rows * matrix90_depth * 2; }
  STOKER_BODY uint32_t full(uint32_t at) const { return barriers + at * 8; }
  STOKER_BODY uint32_t empty(uint32_t at) const { return barriers + (matrix90_stages_count + at) * 8; }
};

// The place in the ring, and how often it has been gone round.
struct Turn {
  uint32_t at = 0;
  uint32_t parity = 0;
  STOKER_BODY void next() {
    if (++at < matrix90_stages_count) return;
    at = 0;
    parity ^= 1U;
  }
};

// Pairs of tiles in an order in which clusters at work at once share rows of A and of B.
struct Tiles {
  uint32_t rows;     // pairs of tiles above each other
  uint32_t columns;

  STOKER_BODY void place(uint32_t number, uint32_t& row, uint32_t& column) const {
    constexpr uint32_t group = 8;
    const uint32_t first = number / (group * columns) * group;
    const uint32_t height = rows - first < group ? rows - first : group;
    const uint32_t inside = number % (group * columns);
    row = first + inside % height;
    column = inside / height;
  }
};

STOKER_BODY void bring(const MatrixArgs& args, const Ring& ring, const Tiles& tiles, uint32_t cluster,
                       uint32_t clusters, uint32_t rank) {
  const char* const maps = static_cast<const char*>(args.maps);
  acquire_map(maps);
  acquire_map(maps + 128);
  Turn turn;
  for (uint32_t number = cluster; number < tiles.rows * tiles.columns; number += clusters) {
    uint32_t row = 0;
    uint32_t column = 0;
    tiles.place(number, row, column);
    for (uint32_t k = 0; k < args.k; k += matrix90_depth) {
      wait_for(ring.empty(turn.at), turn.parity ^ 1U);
      expect_bytes(ring.full(turn.at), stage_bytes);
      copy_tile(ring.a(turn.at), maps, k, (row * 2 + rank) * matrix90_rows, ring.full(turn.at));
      copy_tile_to_both(ring.b(turn.at) + rank * half_columns * matrix90_depth * 2, maps + 128, k,
                        column * matrix90_columns + rank * half_columns, ring.full(turn.at));
      turn.next();
    }
  }
}

STOKER_BODY void store_sums(const MatrixArgs& args, const float* sums, uint32_t row, uint32_t column,
                            uint32_t lane) {
  uint16_t* const out = args.c + uint64_t{row + lane / 32 * 16 + lane % 32 / 4} * args.n + column + lane % 4 * 2;
#pragma unroll
  for (uint32_t i = 0; i < 32; ++i) {
    *reinterpret_cast<uint32_t*>(out + i * 8) = packed_bf16(sums[i * 4], sums[i * 4 + 1]);
    *reinterpret_cast<uint32_t*>(out + uint64_t{8} * args.n + i * 8) = packed_bf16(sums[i * 4 + 2], sums[i * 4 + 3]);
  }
}

STOKER_BODY void multiply_tiles(const MatrixArgs& args, const Ring& ring, const Tiles& tiles, uint32_t cluster,
                                uint32_t clusters, uint32_t rank, uint32_t lane, uint32_t upper) {
  Turn turn;
  for (uint32_t number = cluster; number < tiles.rows * tiles.columns; number += clusters) {
    float sums[128];
    uint32_t held = matrix90_stages_count;  // the stage before, still being read
    for (uint32_t k = 0; k < args.k; k += matrix90_depth) {
      wait_for(ring.full(turn.at), turn.parity);
      warpgroup_arrive();
#pragma unroll
      for (uint32_t part = 0; part < matrix90_depth / 16; ++part) {
        const uint64_t left = tile_descriptor(ring.a(turn.at) + upper * 64 * matrix90_depth * 2 + part * 32);
        const uint64_t right = tile_descriptor(ring.b(turn.at) + part * 32);
        multiply_64x256(sums, left, right, k + part > 0 ? 1 : 0);
      }
      warpgroup_commit();
      warpgroup_wait_but_one(sums);
      if (held < matrix90_stages_count && lane < 2) tell_empty(ring.empty(held), lane);
      held = turn.at;
      turn.next();
    }
    warpgroup_wait_all(sums);
    if (lane < 2) tell_empty(ring.empty(held), lane);
    uint32_t row = 0;
    uint32_t column = 0;
    tiles.place(number, row, column);
    store_sums(args, sums, (row * 2 + rank) * matrix90_rows + upper * 64, column * matrix90_columns, lane);
  }
}

extern "C" __attribute__((global)) __attribute__((launch_bounds(matrix90_threads, 1))) void stoker_matrix90(
    MatrixArgs args) {
  const Thread thread = this_thread();
  const auto shared = static_cast<uint32_t>(
      reinterpret_cast<uint64_t>((__attribute__((address_space(3))) char*)matrix90_stages));
  const Ring ring = {(shared + 1023U) & ~1023U, ((shared + 1023U) & ~1023U) + matrix90_stages_count * stage_bytes};
  const Tiles tiles = {args.m / (2 * matrix90_rows), args.n / matrix90_columns};
  const uint32_t rank = thread.block % 2;
  if (thread.lane == 0) {
    for (uint32_t i = 0; i < matrix90_stages_count; ++i) {
      make_barrier(ring.full(i), 1);
      make_barrier(ring.empty(i), 4);  // two warp groups of each of two blocks
    }
    publish_barriers();
  }
  cluster_barrier();
  const uint32_t group = thread.lane / 128;
  if (group == 0) {
    fewer_registers();
    if (thread.lane == 0) bring(args, ring, tiles, thread.block / 2, thread.blocks / 2, rank);
  } else {
    more_registers();
    multiply_tiles(args, ring, tiles, thread.block / 2, thread.blocks / 2, rank, thread.lane % 128, group - 1);
  }
  cluster_barrier();  // no block leaves while the other may still write to its memory
}

}  // namespace stoker::diag
