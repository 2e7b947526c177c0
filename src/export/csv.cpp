#include "export/csv.h"

#include <optional>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace stoker::exporting {
namespace {

constexpr std::string_view blanks = " \t\r";

bool is_blank(char c) { return blanks.find(c) != std::string_view::npos; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
  }

  Csv read() {
    while (!at_end()) {
      skip_blanks();
      if (at_end()) break;
      if (peek() == '\n' || peek() == '#') {
        skip_line();
      } else {
        take_row();
      }
    }
    return std::move(csv_);
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return text_[at_]; }

  void step() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++place_.line;
      place_.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {  // not a character's later byte
      ++place_.column;
    }
  }

  void skip_blanks() {
    while (!at_end() && is_blank(peek())) step();
  }

  void skip_line() {
    while (!at_end() && peek() != '\n') step();
    if (!at_end()) step();
  }

  void take_row() {
    std::vector<CsvCell> row;
    while (true) {
      auto cell = take_cell();
      if (!cell) return skip_line();
      row.push_back(std::move(*cell));
      if (at_end() || peek() == '\n') break;
      step();  // the comma
    }
    skip_line();
    csv_.rows.push_back(std::move(row));
  }

  // Up to the comma or the line's end; nullopt after a problem.
  std::optional<CsvCell> take_cell() {
    skip_blanks();
    if (!at_end() && peek() == '"') return take_quoted();
    CsvCell cell{.text = {}, .place = place_};
    const std::size_t from = at_;
    while (!at_end() && peek() != ',' && peek() != '\n') {
      if (peek() == '"') {
        return problem(place_, "there is a double quote inside a cell that is not quoted",
                       "put the whole cell in double quotes, and write the inner ones twice");
      }
      step();
    }
    cell.text = trimmed(text_.substr(from, at_ - from), blanks);
    return cell;
  }

  std::optional<CsvCell> take_quoted() {
    CsvCell cell{.text = {}, .place = place_};
    const auto opening = std::pair(at_, place_);
    step();
    while (!at_end()) {
      const char c = peek();
      step();
      if (c == '\r' && !at_end() && peek() == '\n') continue;
      if (c != '"') {
        cell.text += c;
      } else if (!at_end() && peek() == '"') {
        cell.text += c;
        step();
      } else {
        return end_quoted(std::move(cell));
      }
    }
    std::tie(at_, place_) = opening;  // what follows is read as rows of its own
    return problem(place_, "this double quote is never closed", "close the quote in this line");
  }

  std::optional<CsvCell> end_quoted(CsvCell cell) {
    skip_blanks();
    if (!at_end() && peek() != ',' && peek() != '\n') {
      return problem(
          place_, "there is text behind the closing quote",
          "put a comma behind the quote, or write a quote that belongs to the text twice");
    }
    cell.text = trimmed(cell.text, blanks);
    return cell;
  }

  std::nullopt_t problem(CsvPlace place, std::string what, std::string fix) {
    csv_.problems.push_back({place, std::move(what), std::move(fix)});
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  CsvPlace place_;
  Csv csv_;
};

}  // namespace

Csv read_csv(std::string_view text) { return Reader(text).read(); }

}  // namespace stoker::exporting
