// Composition: what could not be asked or read, of many that are alike, in few lines: 64 ranks whose logs can't be read for
// one reason are one problem.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stoker::app {

class Problems {
 public:
  static constexpr std::size_t most_lines = 12;
  static constexpr std::size_t most_named = 2;  // in a line

  // `what` it is about, as "process 4711"; empty: `why` says it.
  void add(std::string what, std::string why);
  // "A, B and 62 more: why", in the order in which they came; the last says how many lines there are no more.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Group {
    std::string why;
    std::vector<std::string> named;
    std::size_t count = 0;
  };
  std::vector<Group> groups_;
};

}  // namespace stoker::app
