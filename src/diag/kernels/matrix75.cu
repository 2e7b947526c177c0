// Diag stage, kernels: module `matrix75`: the product of fp16 matrices since Turing.
#include "diag/kernels/mma_product.h"

namespace stoker::diag {

struct ProductFp16 {
  static constexpr uint32_t stages = 2;
  STOKER_BODY static void copy(uint32_t to, const uint16_t* from) {
    const Words words = *reinterpret_cast<const Words*>(from);
    asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};"
                 :
                 : "r"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
  }
  STOKER_BODY static void close_stage() {}
  STOKER_BODY static void wait_for_stage() {}
  // Two of the shape that Turing has are one of 16.
  STOKER_BODY static void multiply(const uint32_t* a, const uint32_t* b, float* sums) {
    for (uint32_t i = 0; i < 2; ++i) {
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
          : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
          : "r"(a[i * 2]), "r"(a[i * 2 + 1]), "r"(b[i]));
    }
  }
  STOKER_BODY static uint32_t packed(float low, float high) {
    return float16_of(low) | uint32_t{float16_of(high)} << 16;
  }
};

extern __attribute__((shared, aligned(128))) char matrix75_stages[];

extern "C" __attribute__((global)) __attribute__((launch_bounds(product_threads, 1))) void stoker_matrix75(MatrixArgs args) {
  const auto shared = static_cast<uint32_t>(reinterpret_cast<uint64_t>((__attribute__((address_space(3))) char*)matrix75_stages));
  const Thread thread = this_thread();
  Product<ProductFp16>(args, thread.block, thread.lane, shared).run();
}

}  // namespace stoker::diag
