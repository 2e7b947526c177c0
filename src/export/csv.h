// Export stage: comma-separated values (RFC 4180, comments with '#') with the place of every cell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker::exporting {

// Both count from 1; a column is a character.
struct CsvPlace {
  int line = 1;
  int column = 1;
};

struct CsvCell {
  std::string text;  // without the blanks around it; of a quoted cell, what is between the quotes
  CsvPlace place;
};

struct CsvProblem {
  CsvPlace place;
  std::string what;
  std::string fix;
};

struct Csv {
  std::vector<std::vector<CsvCell>> rows;  // those without a problem
  std::vector<CsvProblem> problems;        // one a row at most
};

// Passes over blank lines, and lines whose first character that is no blank is '#'. Line ends may be
// LF or CRLF; a byte order mark is passed over. A row with a problem ends at its line's end.
Csv read_csv(std::string_view text);

}  // namespace stoker::exporting
