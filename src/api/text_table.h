// Edge: columns of text for a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stoker::api {

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  std::size_t least_width = 0;  // so that lines printed one after the other stay aligned
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // Two blanks between columns, none at the end of a line.
  [[nodiscard]] std::string text(bool with_titles = true) const;

 private:
  [[nodiscard]] std::string line(const std::vector<std::string>& cells,
                                 const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace stoker::api
