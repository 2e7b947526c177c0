// Analyzer stage: names of MIG profiles, and which of them fit on one GPU together.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::lint {

// "1c.3g.40gb+me": compute instance slices (0: not said), slices, memory in GB as the name says it, attributes.
struct MigName {
  int compute = 0;
  int slices = 0;
  int gigabytes = 0;
  std::string attributes;

  static std::optional<MigName> parse(std::string_view text);
  [[nodiscard]] std::string base() const;  // "3g.40gb"
};

struct MigBoard {
  std::string_view name;
  int slices;
  std::vector<std::string> profiles;  // as in mig_boards.def
  std::vector<std::string> devices;

  // How many instances of the profile at `index` one empty GPU takes.
  [[nodiscard]] int most(std::size_t index) const;
  // Memory slices that one of them takes.
  [[nodiscard]] int memory(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view base) const;
};

const std::vector<MigBoard>& mig_boards();

// Can there be a board that we don't know with such a profile? Slices of known boards have up to 24 GB.
bool may_be_newer(const MigName& name);

// What keeps `counts` (profiles by base name) from an empty `board`; empty: nothing does. From an empty GPU a set fits
// where no profile stands more often than it may, and neither compute nor memory slices run out.
std::string why_not(const MigBoard& board, const std::map<std::string, int>& counts);

}  // namespace stoker::lint
