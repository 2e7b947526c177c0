// NCCL analyzer: one line of a job's output, told apart into who said it and what was said. What launchers and log
// shippers put in front (MPI, Ray, torchrun, Lightning, k8s, timestamps) is looked through, not known by name.
// Forms by version: docs/specs/nccl.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::nccl {

// Who speaks, and how loud. `other`: no line of NCCL.
enum class Voice : std::uint8_t { other, info, warn, trace, call };

struct Line {
  Voice voice = Voice::other;
  std::string_view host;  // empty: not said
  std::uint32_t pid = 0;  // 0: not said
  std::optional<int> device;
  std::optional<int> rank;  // what the launcher put in front says
  std::string_view file;    // of NCCL's source, without its line: "transport/nvls.cc"; of a warning
  std::string_view text;    // what was said
  std::string_view front;   // all that stands before
  bool cut = false;         // the file ends within it, maybe: a number at its end may lack digits
};

// The lines that `raw` holds, in their order, appended to `out`; at least one. Two ranks write into one pipe, so that a
// line of one may begin within a line of the other. `raw` has no line break, colour or carriage return, and outlives
// what was found.
void split_line(std::string_view raw, std::vector<Line>& out);

// The rank that a launcher put in front of a line: "[rank3]:", "[1,12]<stdout>:", "12: ", "rank=3".
std::optional<int> rank_in_front(std::string_view front);

// Of a front, what tells one speaker from another; times are left out.
std::string_view speaker(std::string_view front);

// When a line was written, in seconds from the start of its year, as far as it tells: "2026-11-27 21:52:45.97",
// "[E1127 21:52:45.977186709 ". No zone is known, so that two lines compare only where the same machine wrote them, or
// machines of one zone.
std::optional<double> seconds_of_year(std::string_view raw);

// `raw` without ANSI colours, into `buffer` where there are any.
std::string_view without_colour(std::string_view raw, std::string& buffer);

}  // namespace stoker::nccl
