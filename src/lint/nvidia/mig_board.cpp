#include "lint/nvidia/mig_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace stoker::lint {
namespace {

std::vector<std::string> board_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    if (!word.empty()) words.emplace_back(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return words;
}

// By place in a row's profiles. MIG user guide, tables of supported profiles: instances available.
constexpr std::array<int, 6> most_of_seven = {7, 4, 3, 2, 1, 1};
constexpr std::array<int, 6> most_of_four = {4, 0, 2, 0, 1, 0};
constexpr std::array<int, 6> slices_of_place = {1, 1, 2, 3, 4, 7};
constexpr std::array<int, 6> memory_of_seven = {1, 2, 2, 4, 4, 8};
constexpr std::array<int, 6> memory_of_four = {1, 2, 2, 0, 4, 0};

}  // namespace

std::optional<MigName> MigName::parse(std::string_view text) {
  MigName name;
  const auto sign = text.find_first_of("+-");
  if (sign != std::string_view::npos) {
    name.attributes = text.substr(sign);
    text = text.substr(0, sign);
  }
  const auto c = text.find("c.");
  if (c != std::string_view::npos) {
    const auto compute = whole_number<int>(text.substr(0, c));
    if (!compute || *compute < 1) return std::nullopt;
    name.compute = *compute;
    text.remove_prefix(c + 2);
  }
  const auto g = text.find("g.");
  if (g == std::string_view::npos || !text.ends_with("gb") || text.size() < g + 5) {
    return std::nullopt;
  }
  const auto slices = whole_number<int>(text.substr(0, g));
  const auto gigabytes = whole_number<int>(text.substr(g + 2, text.size() - g - 4));
  if (!slices || !gigabytes || *slices < 1 || *gigabytes < 1) return std::nullopt;
  name.slices = *slices;
  name.gigabytes = *gigabytes;
  return name;
}

std::string MigName::base() const { return fmt::format("{}g.{}gb", slices, gigabytes); }

int MigBoard::most(std::size_t index) const {
  return slices == 7 ? most_of_seven.at(index) : most_of_four.at(index);
}

int MigBoard::memory(std::size_t index) const {
  return slices == 7 ? memory_of_seven.at(index) : memory_of_four.at(index);
}

std::optional<std::size_t> MigBoard::index_of(std::string_view base) const {
  const auto at = std::ranges::find(profiles, base);
  if (at == profiles.end()) return std::nullopt;
  return static_cast<std::size_t>(at - profiles.begin());
}

const std::vector<MigBoard>& mig_boards() {
  static const std::vector<MigBoard> boards = {
#define STOKER_MIG_BOARD(board, slices, profiles, devices) \
  {board, slices, board_words(profiles), board_words(devices)},
#include "lint/nvidia/mig_boards.def"
#undef STOKER_MIG_BOARD
  };
  return boards;
}

bool may_be_newer(const MigName& name) { return name.gigabytes > 24 * std::min(name.slices, 7); }

std::string why_not(const MigBoard& board, const std::map<std::string, int>& counts) {
  long long compute = 0;
  long long memory = 0;
  for (const auto& [base, count] : counts) {
    const auto index = board.index_of(base);
    if (!index) return fmt::format("{} has no {}", board.name, base);
    if (count > board.most(*index)) {
      return fmt::format("{} takes {} of {} at most", board.name, board.most(*index), base);
    }
    compute += static_cast<long long>(count) * slices_of_place.at(*index);
    memory += static_cast<long long>(count) * board.memory(*index);
  }
  const int memory_slices = board.slices == 7 ? 8 : 4;
  if (compute > board.slices) {
    return fmt::format("they need {} compute slices; {} has {}", compute, board.name, board.slices);
  }
  if (memory > memory_slices) {
    return fmt::format("they need {} memory slices; {} has {}", memory, board.name, memory_slices);
  }
  return {};
}

}  // namespace stoker::lint
