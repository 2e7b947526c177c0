// Ground stage: text that fits a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// Columns that UTF-8 `text` takes: one for each character.
std::size_t columns(std::string_view text);

// `text` without what a terminal would take for an order: control characters become blanks, line breaks too unless
// they are to be kept. A log may hold anything.
std::string printable(std::string text, bool keep_breaks = false);

// Breaks at blanks into lines of at most `width` columns; a longer word stays whole. Line breaks of
// `text` are kept. At least one line.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

// `text` in at most `width` columns; where something is left out, `mark` stands at its end. `mark` takes one column.
std::string cut_end(std::string_view text, std::size_t width, std::string_view mark = "…");
// The same with its front left out.
std::string cut_front(std::string_view text, std::size_t width, std::string_view mark = "…");

// `text` with blanks up to `width` columns.
std::string pad(std::string_view text, std::size_t width);

// "  LABEL   " and behind it `text`, in lines of at most `width` columns that go on below its beginning, which is column
// `indent`.
void append_labelled(std::string& out, std::string_view label, std::string_view text,
                     std::size_t width, std::size_t indent = 10);

}  // namespace stoker
