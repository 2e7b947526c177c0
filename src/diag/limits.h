// Diag stage: from which value on a test passes, by product and by what the card says of itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoker::diag {

// What is known of a card that limits follow from.
struct CardTraits {
  std::uint32_t gpu = 0;
  std::string name;
  std::string uuid;
  std::string serial;
  std::uint32_t pcie_generation = 0;  // the most that card and slot can do; 0: not told
  std::uint32_t pcie_width = 0;
  int compute_capability = 0;
  bool direct_links = false;  // its NVLinks end at other cards: a pair has some of them only
  bool mig = false;           // an instance of a card: no figure of the whole card applies
};

struct Limit {
  double value = 0;  // the least that passes
  std::optional<double>
      usual;  // what is expected, where nobody measured this product: less is told, and no fault
  std::string usual_text;
  std::string text;    // "85 % of 4800 GB/s"
  std::string source;  // where that figure was read
};

// nullopt: nothing is known that this test of this card could be judged by.
std::optional<Limit> limit_of(std::string_view test, const CardTraits& card);

// Is it a product whose cards are all joined by NVLink?
bool has_nvlink(std::string_view product);

// Bytes a second that a PCIe link carries one way at most, encoding taken off; 0: no such generation is known.
double pcie_rate(std::uint32_t generation, std::uint32_t width);

}  // namespace stoker::diag
