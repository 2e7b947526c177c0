// Test support: one line of a scenario, word by word.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"

namespace stoker::scenario {

class Words {
 public:
  // `line` outlives this.
  Words(const std::string& file, unsigned number, std::string_view line)
      : file_(file), number_(number), rest_(line) {}

  // Empty: there is no more.
  [[nodiscard]] std::string_view next() const {
    return rest_.substr(0, rest_.find_first_of(" \t"));
  }
  std::string_view take() {
    const auto word = next();
    rest_ = trimmed(rest_.substr(word.size()));
    return word;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  std::string_view take_rest() { return std::exchange(rest_, {}); }
  [[nodiscard]] unsigned line() const { return number_; }
  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::invalid_input, fmt::format("{}:{}: {}", file_, number_, what));
  }

 private:
  const std::string& file_;
  const unsigned number_;
  std::string_view rest_;
};

}  // namespace stoker::scenario
