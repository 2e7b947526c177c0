#include "diag/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stoker::diag {
namespace {

struct ProductLimit {
  std::string_view name;
  double memory_gbps;
  double tensor_tflops;
  double link_gbps;
  bool measured;
  std::string_view source;
};

constexpr auto product_limits = std::to_array<ProductLimit>({
#define STOKER_PRODUCT_LIMIT(name, memory, tensor, link, measured, source) \
  {name, memory, tensor, link, (measured) != 0, source},
#include "diag/product_limits.def"
#undef STOKER_PRODUCT_LIMIT
});

// What a healthy card reaches of the figure, less a margin; shares are our own choice. Measured on H200
// (docs/measurements.md): read 0.94, write 0.90, copy 0.82, tensor under load 0.65. Only Hopper's tensor kernel has been
// measured: others use mma.sync, which reaches less.
struct Share {
  std::string_view test;
  double share;
};
constexpr auto memory_shares =
    std::to_array<Share>({{"memory_read", 0.85}, {"memory_write", 0.80}, {"memory_copy", 0.70}});
// A product that nobody has measured fails below this, and is told of between this and its share.
constexpr double unmeasured_share = 0.5;
constexpr auto tensor_tests =
    std::to_array<std::string_view>({"tensor_8192", "tensor_16384", "tensor_load"});
constexpr double tensor_share_of_hopper = 0.45;
constexpr double tensor_share_of_others = 0.25;
// Of one way of the link; both ways at once add up to less than twice that. Measured: 0.88 each, 1.58 both.
constexpr double pcie_share = 0.75;
constexpr double pcie_both_share = 1.2;
// Of NVLink each way. Measured on two H200: 0.86 and 0.71; more cards share switches.
constexpr double peer_share = 0.6;
constexpr double all_reduce_share = 0.3;
// Longer than any launch that has been measured (13 µs), by far.
constexpr double most_latency_seconds = 200e-6;

const ProductLimit* product_of(const CardTraits& card) {
  if (card.mig) return nullptr;
  const auto found =
      std::ranges::find(product_limits, std::string_view(card.name), &ProductLimit::name);
  return found == product_limits.end() ? nullptr : &*found;
}

Limit share_of(double share, double figure, const char* unit, double scale,
               const ProductLimit& product) {
  const auto text = [&](double part) {
    return fmt::format("{:.0f} % of {:.4g} {}", part * 100, figure, unit);
  };
  const double least = product.measured ? share : std::min(share, unmeasured_share);
  Limit out{
      .value = least * figure * scale, .text = text(least), .source = std::string(product.source)};
  if (least < share) {
    out.usual = share * figure * scale;
    out.usual_text = text(share) + ", a share that was not measured on this product";
  }
  return out;
}

std::optional<Limit> product_limit(std::string_view test, const CardTraits& card) {
  const ProductLimit* product = product_of(card);
  if (product == nullptr) return std::nullopt;
  const auto memory = std::ranges::find(memory_shares, test, &Share::test);
  if (memory != memory_shares.end() && product->memory_gbps > 0) {
    return share_of(memory->share, product->memory_gbps, "GB/s", 1e9, *product);
  }
  if (std::ranges::find(tensor_tests, test) != tensor_tests.end() && product->tensor_tflops > 0) {
    const double share =
        card.compute_capability == 90 ? tensor_share_of_hopper : tensor_share_of_others;
    return share_of(share, product->tensor_tflops, "TFLOP/s", 1e12, *product);
  }
  // The figure is the sum of all links.
  if (product->link_gbps <= 0 || card.direct_links) return std::nullopt;
  if (test == "peer_copy" || test == "peer_all")
    return share_of(peer_share, product->link_gbps, "GB/s", 1e9, *product);
  if (test == "all_reduce")
    return share_of(all_reduce_share, product->link_gbps, "GB/s", 1e9, *product);
  return std::nullopt;
}

std::optional<Limit> pcie_limit(std::string_view test, const CardTraits& card) {
  const double rate = pcie_rate(card.pcie_generation, card.pcie_width);
  if (rate <= 0) return std::nullopt;
  const double share = test == "pcie_both" ? pcie_both_share : pcie_share;
  return Limit{.value = share * rate,
               .text = fmt::format("{:.0f} % of PCIe {} x{}, {:.1f} GB/s one way", share * 100,
                                   card.pcie_generation, card.pcie_width, rate / 1e9),
               .source = "what card and slot say they can"};
}

}  // namespace

// Transfer rates: PCI Express Base Specification 6.0, section 1.2; 128b/130b encoding from generation 3 to 5, 242 of 256
// bytes of a flit from 6 on.
double pcie_rate(std::uint32_t generation, std::uint32_t width) {
  switch (generation) {
    case 1: return 2.5e9 / 10 * width;
    case 2: return 5e9 / 10 * width;
    case 3: return 8e9 / 8 * 128 / 130 * width;
    case 4: return 16e9 / 8 * 128 / 130 * width;
    case 5: return 32e9 / 8 * 128 / 130 * width;
    case 6: return 64e9 / 8 * 242 / 256 * width;
    default: return 0;
  }
}

bool has_nvlink(std::string_view product) {
  return std::ranges::any_of(product_limits, [product](const ProductLimit& row) {
    return row.name == product && row.link_gbps > 0;
  });
}

std::optional<Limit> limit_of(std::string_view test, const CardTraits& card) {
  if (test == "pcie_latency")
    return Limit{.value = most_latency_seconds,
                 .text = "200 µs",
                 .source = "far above the 13 µs that were measured on an H200"};
  if (test.starts_with("pcie_")) return pcie_limit(test, card);
  return product_limit(test, card);
}

}  // namespace stoker::diag
