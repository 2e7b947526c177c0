// Diag stage, kernels: module `matrix80`: the product of bf16 matrices since Ampere.
#include "diag/kernels/mma_product.h"

namespace stoker::diag {

struct ProductBf16 {
  static constexpr uint32_t stages = 4;
  STOKER_BODY static void copy(uint32_t to, const uint16_t* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
  }
  STOKER_BODY static void close_stage() { asm volatile("cp.async.commit_group;" : : : "memory"); }
  STOKER_BODY static void wait_for_stage() { asm volatile("cp.async.wait_group 2;" : : : "memory"); }
  STOKER_BODY static void multiply(const uint32_t* a, const uint32_t* b, float* sums) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  STOKER_BODY static uint32_t packed(float low, float high) {
    uint32_t out = 0;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    return out;
  }
};

extern __attribute__((shared, aligned(128))) char matrix80_stages[];

extern "C" __attribute__((global)) __attribute__((launch_bounds(product_threads, 1))) void stoker_matrix80(MatrixArgs args) {
  const auto shared = static_cast<uint32_t>(reinterpret_cast<uint64_t>((__attribute__((address_space(3))) char*)matrix80_stages));
  const Thread thread = this_thread();
  Product<ProductBf16>(args, thread.block, thread.lane, shared).run();
}

}  // namespace stoker::diag
