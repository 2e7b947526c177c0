// Health stage: what an operator said that this node has, against what is there. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"
#include "store/snapshot.h"

namespace stoker::health {

// What is not set is not compared.
struct Expected {
  std::optional<unsigned> gpus;
  std::vector<std::string>
      products;                     // names as the driver tells them; a GPU has to be one of these
  std::string driver;               // "580.159.04"
  std::vector<std::string> nics;    // with a port that is active
  std::optional<unsigned> nvlinks;  // up, of every GPU
  std::optional<unsigned>
      pcie_generation;                 // that card and slot can do: the one in use falls when idle
  std::optional<unsigned> pcie_width;  // lanes in use
};

enum class Match : std::uint8_t { not_expected, met, differs, unknown };
// Stable lower-case word.
const char* to_string(Match match);

// One thing that can be expected.
struct Comparison {
  std::string_view key;  // of the option: "expect.gpus"
  Match match = Match::not_expected;
  std::string expected;              // as an option's value; empty: nothing
  std::optional<std::string> seen;   // likewise; none: not known, or not the same for all GPUs
  bool mixed = false;                // known, and not the same for all GPUs
  bool pending = false;              // not known because it is not read yet
  bool unexplained = false;          // not known, and no other finding says why
  bool untold = false;               // not known, and cards of this kind never tell it
  bool explained = false;            // differs, and findings about the GPUs themselves say why
  std::vector<std::string> details;  // what differs or is not known, a line each
};

// One for each key, in the order of the option table.
std::vector<Comparison> compare(const store::Snapshot& snapshot, const Expected& expected);

// The RDMA devices that such a finding misses, or whose port is not active; empty: it is about something else.
std::vector<std::string> wrong_nics(const Finding& finding);

// One for each comparison that differs, or that can't be made although everything has been read.
std::vector<Finding> expected_findings(const store::Snapshot& snapshot, const Expected& expected);

}  // namespace stoker::health
