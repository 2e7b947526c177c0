// Event stage: finds, in a large text, the places where a line may hold an event. Nearly all of a log has none, so
// this decides how fast a log is read (docs/specs/events.md).
#pragma once

#include <cstddef>
#include <string_view>

namespace stoker::event {

// Where the first of the words begins, at or behind `from`, without which no line is an event; npos: there is none.
std::size_t find_sign(std::string_view text, std::size_t from = 0);

// Line breaks in `text`.
std::size_t count_lines(std::string_view text);

}  // namespace stoker::event
