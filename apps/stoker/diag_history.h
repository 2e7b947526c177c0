// Composition: results of `stoker diag` that are kept, to compare with and to show.
#pragma once

#include <string>
#include <vector>

#include "command_line.h"
#include "diag/judge.h"
#include "store/snapshot.h"

namespace stoker::app {

// DIR/diag.db, made with DIR where it is missing.
class DiagHistory {
 public:
  explicit DiagHistory(std::string folder) : file_(std::move(folder) + "/diag.db") {}

  // What the cards' last passing results were; nothing where nothing is kept yet.
  [[nodiscard]] Result<diag::Earlier> earlier(const std::vector<diag::CardTraits>& cards) const;
  [[nodiscard]] Result<void> keep(const std::vector<diag::TestResult>& results,
                                  const store::Snapshot& snapshot,
                                  const std::string& started) const;

 private:
  const std::string file_;
};

struct DiagHistoryFlags {
  ConfigFlags config;
  std::string gpu;  // a serial number or UUID
  std::string test;
  std::size_t most = 50;
  Output output = Output::table;
};

int run_diag_history(const DiagHistoryFlags& flags);

}  // namespace stoker::app
