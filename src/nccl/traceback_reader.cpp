#include <algorithm>
#include <array>

#include "nccl/readers.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

struct Follower {
  std::string_view type, message;
};
constexpr auto followers = std::to_array<Follower>({
#define EXCEPTION(type, message) {type, message},
#include "nccl/exceptions.def"
#undef EXCEPTION
});

// "torch.distributed.DistBackendError: NCCL error in: ..." -> its type; empty: the line is no exception's.
std::string_view exception_type(std::string_view text) {
  const auto end = text.find_first_of(": \t");
  const auto type = text.substr(0, end);
  if (type.empty() || (end != npos && text[end] != ':')) return {};
  const bool word = std::all_of(type.begin(), type.end(), [](char c) {
    return c == '.' || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
  });
  const auto name = type.substr(type.rfind('.') + 1);
  return word && !name.empty() && name.front() >= 'A' && name.front() <= 'Z' ? type
                                                                             : std::string_view();
}

bool follows(std::string_view type, std::string_view message) {
  const auto name = type.substr(type.rfind('.') + 1);
  return std::any_of(followers.begin(), followers.end(), [&](const Follower& each) {
    const bool within = each.message.starts_with('*');
    return name == each.type &&
           (within ? contains(message, each.message.substr(1)) : message.starts_with(each.message));
  });
}

// "Rank 1 is running collective: ..., but Rank 2 is running collective: ...": both; ProcessGroupWrapper.cpp.
std::vector<int> ranks_that_differ(std::string_view text, const Sign& sign) {
  std::vector<int> ranks;
  if (sign.verdict != Class::collective_mismatch) return ranks;
  for (auto at = text.find("Rank "); at != npos; at = text.find("Rank ", at + 1)) {
    const auto rank = number_behind<int>(text.substr(at), "Rank ");
    if (rank && !std::count(ranks.begin(), ranks.end(), *rank)) ranks.push_back(*rank);
  }
  return ranks;
}

constexpr int longest_traceback = 3000;  // lines
constexpr std::size_t most_open = 4096;

}  // namespace

void TracebackReader::ended(const Line& line, const Place& place) {
  const auto type = exception_type(line.text);
  if (type.empty() || (line.cut && type.size() == line.text.size())) return;
  const auto message = trimmed(line.text.substr(std::min(type.size() + 1, line.text.size())));
  if (const auto* sign = find_sign(Where::exception, line.text)) {
    add_hit(facts_, {.sign = sign,
                     .rank = line.rank,
                     .named_ranks = ranks_that_differ(line.text, *sign),
                     .place = place});
    return;
  }
  const bool consequence = follows(type, message);
  // The first is kept of each rank, and of each file where no rank is said; then what only follows is no news.
  for (const auto& each : facts_.exceptions) {
    if (each.rank == line.rank && each.place.file == place.file &&
        (each.consequence == consequence))
      return;
  }
  facts_.exceptions.push_back({.rank = line.rank,
                               .type = std::string(type),
                               .message = shown(message, 200),
                               .consequence = consequence,
                               .place = place});
}

// torchrun's table shows the traceback that a rank left in its error file, two blanks to the right. The row's rank has
// been read before.
bool TracebackReader::read_nested(const Line& line, const Place& place) {
  const auto text = line.text;
  if (trimmed(text).empty() || text.starts_with("   ")) return true;
  nested_ = false;
  if (!text.starts_with("  ")) return false;
  Line inner = line;
  inner.text.remove_prefix(2);
  if (exception_type(inner.text).empty()) return false;  // the table's next row
  if (!inner.rank && !facts_.exits.empty()) inner.rank = facts_.exits.back().rank;
  ended(inner, place);
  return true;
}

bool TracebackReader::read(const Line& line, const Place& place) {
  const auto who = speaker(line.front);
  if (const auto last = last_error_.find(who); last != last_error_.end()) {
    last_error_.erase(last);
    if (const auto* sign = find_sign(Where::warn, line.text);
        sign != nullptr && !sign->pattern.empty()) {
      Hit hit{.sign = sign, .rank = line.rank, .place = place};
      if (sign->verdict == Class::user_code) {
        for (auto at = line.text.find("rank "); at != npos; at = line.text.find("rank ", at + 1)) {
          if (const auto rank = number_behind<int>(line.text.substr(at), "rank "))
            hit.named_ranks.push_back(*rank);
        }
      }
      add_hit(facts_, std::move(hit));
    }
    return true;
  }
  if (nested_) return read_nested(line, place);
  if (trimmed(line.text) == "Last error:") {
    if (last_error_.size() < most_open) last_error_[std::string(who)] = 1;
    return true;
  }
  if (line.text.starts_with("  traceback : Traceback (most recent call last)")) {
    nested_ = true;
    return true;
  }
  if (line.text.starts_with("Traceback (most recent call last)")) {
    if (open_.size() < most_open) open_[std::string(who)] = 0;
    return true;
  }
  const auto open = open_.find(who);
  if (open == open_.end()) {
    // People show the last line alone, and torch prints its own so. A common type counts there only by a sign.
    const bool torch = line.text.starts_with("torch.") && !exception_type(line.text).empty();
    constexpr std::array<std::string_view, 3> common_types = {
        "RuntimeError: ", "ImportError: ", "TimeoutError: "};
    const bool common =
        std::any_of(common_types.begin(), common_types.end(),
                    [&](std::string_view type) { return line.text.starts_with(type); });
    const bool known = common && find_sign(Where::exception, line.text) != nullptr;
    if (torch || known) ended(line, place);
    return torch || known;
  }
  if (trimmed(line.text).empty() || line.text.front() == ' ' || line.text.front() == '\t') {
    if (++open->second > longest_traceback) open_.erase(open);
    return true;
  }
  open_.erase(open);
  ended(line, place);
  return true;
}

}  // namespace stoker::nccl
