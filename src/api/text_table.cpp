#include "api/text_table.h"

#include <algorithm>

#include "model/wrap.h"

namespace stoker::api {

std::string TextTable::line(const std::vector<std::string>& cells,
                            const std::vector<std::size_t>& widths) const {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string& cell = cells[i];
    if (columns_[i].align == Align::right) {
      out.append(widths[i] - std::min(widths[i], columns(cell)), ' ');
      out += cell;
    } else {
      out += pad(cell, widths[i]);
    }
    if (i + 1 < cells.size()) out += "  ";
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

std::string TextTable::text(bool with_titles) const {
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  for (const Column& column : columns_) {
    widths.push_back(std::max(column.least_width, columns(column.title)));
    titles.push_back(column.title);
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string out = with_titles ? line(titles, widths) : "";
  for (const auto& row : rows_) out += line(row, widths);
  return out;
}

}  // namespace stoker::api
