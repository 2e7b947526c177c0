// Diag stage, kernels: Hopper's instructions by name: the copy engine, barriers in shared memory, and wgmma. Each is one
// instruction of the PTX ISA (https://docs.nvidia.com/cuda/parallel-thread-execution/); addresses are of shared memory.
#pragma once

#include "diag/kernels/thread.h"

namespace stoker::diag {

STOKER_BODY void make_barrier(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :
               : "r"(barrier), "r"(arrivals)
               : "memory");
}
// Makes new barriers known to the copy engine and to the cluster.
STOKER_BODY void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" : : : "memory");
}
STOKER_BODY void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
               :
               :
               : "memory");
}
STOKER_BODY void expect_bytes(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(barrier), "r"(bytes)
               : "memory");
}
STOKER_BODY void wait_for(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, "
      "[%0], %1; "
      "@!done bra again; }"
      :
      : "r"(barrier), "r"(parity)
      : "memory");
}
// Arrives at the barrier of the block `rank` of this cluster.
STOKER_BODY void tell_empty(uint32_t barrier, uint32_t rank) {
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; "
      "mbarrier.arrive.shared::cluster.b64 _, [there]; }"
      :
      : "r"(barrier), "r"(rank)
      : "memory");
}

// The driver's tensor map was written by the host.
STOKER_BODY void acquire_map(const char* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" : : "l"(map) : "memory");
}
STOKER_BODY void copy_tile(uint32_t to, const char* map, uint32_t k, uint32_t row,
                           uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], [%4];"
      :
      : "r"(to), "l"(map), "r"(k), "r"(row), "r"(barrier)
      : "memory");
}
// To the same place, and the same barrier, of both blocks.
STOKER_BODY void copy_tile_to_both(uint32_t to, const char* map, uint32_t k, uint32_t row,
                                   uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
      "cluster "
      "[%0], [%1, {%2, %3}], [%4], %5;"
      :
      : "r"(to), "l"(map), "r"(k), "r"(row), "r"(barrier), "h"(static_cast<uint16_t>(3))
      : "memory");
}

STOKER_BODY void fewer_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); }
STOKER_BODY void more_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 232;"); }

STOKER_BODY void warpgroup_arrive() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
STOKER_BODY void warpgroup_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}

// Rows of 128 bytes, exchanged in groups of eight by the copy engine (128-byte swizzle): 1024 bytes from one group to the
// next (matrix descriptor: address / 16, leading offset 1, stride / 16 at bit 32, swizzle 1 at bit 62).
STOKER_BODY uint64_t tile_descriptor(uint32_t address) {
  return ((address & 0x3ffffU) >> 4) | (uint64_t{1} << 16) | (uint64_t{1024 >> 4} << 32) |
         (uint64_t{1} << 62);
}

STOKER_BODY uint32_t packed_bf16(float low, float high) {
  uint32_t out = 0;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
  return out;
}

// All sums of a thread as operands of one instruction.
#define STOKER_EIGHT(s, i)                                                            \
  "+f"(s[i]), "+f"(s[(i) + 1]), "+f"(s[(i) + 2]), "+f"(s[(i) + 3]), "+f"(s[(i) + 4]), \
      "+f"(s[(i) + 5]), "+f"(s[(i) + 6]), "+f"(s[(i) + 7])
#define STOKER_SUMS(s)                                                                    \
  STOKER_EIGHT(s, 0), STOKER_EIGHT(s, 8), STOKER_EIGHT(s, 16), STOKER_EIGHT(s, 24),       \
      STOKER_EIGHT(s, 32), STOKER_EIGHT(s, 40), STOKER_EIGHT(s, 48), STOKER_EIGHT(s, 56), \
      STOKER_EIGHT(s, 64), STOKER_EIGHT(s, 72), STOKER_EIGHT(s, 80), STOKER_EIGHT(s, 88), \
      STOKER_EIGHT(s, 96), STOKER_EIGHT(s, 104), STOKER_EIGHT(s, 112), STOKER_EIGHT(s, 120)

// 64 x 256 sums of bf16 products, 16 deep; `add` 0 begins them anew. They may be used after warpgroup_wait_*().
STOKER_BODY void multiply_64x256(float (&sums)[128], uint64_t left, uint64_t right, int32_t add) {
  asm volatile(
      "{ .reg .pred add; setp.ne.b32 add, %130, 0; "
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,"
      "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"
      "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"
      "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,"
      "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}, "
      "%128, %129, add, 1, 1, 0, 0; }"
      : STOKER_SUMS(sums)
      : "l"(left), "l"(right), "r"(add)
      : "memory");
}
// The sums are operands, so that nothing that uses them is moved before.
STOKER_BODY void warpgroup_wait_but_one(float (&sums)[128]) {
  asm volatile("wgmma.wait_group.sync.aligned 1;" : STOKER_SUMS(sums) : : "memory");
}
STOKER_BODY void warpgroup_wait_all(float (&sums)[128]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" : STOKER_SUMS(sums) : : "memory");
}
#undef STOKER_SUMS
#undef STOKER_EIGHT

}  // namespace stoker::diag
