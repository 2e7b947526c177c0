// Composition: results of `stoker diag` that are kept, to compare with and to show.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "command_line.h"
#include "db/diag_db.h"
#include "diag/judge.h"
#include "store/snapshot.h"

namespace stoker::app {

// Whose rows are this card's; `cards`: all of the node. A serial number that several have names none of them.
db::DiagGpu kept_as(const diag::CardTraits& card, const std::vector<diag::CardTraits>& cards);

// DIR/diag.db, made with DIR where it is missing.
class DiagHistory {
 public:
  explicit DiagHistory(std::string folder) : file_(std::move(folder) + "/diag.db") {}

  // What the cards' last passing results were; nothing where nothing is kept yet.
  [[nodiscard]] Result<diag::Earlier> earlier(const std::vector<diag::CardTraits>& cards) const;
  // `made`: by GPU, the level whose tests were all made on it.
  [[nodiscard]] Result<void> keep(const std::vector<diag::TestResult>& results,
                                  const store::Snapshot& snapshot, const std::string& started,
                                  const std::map<std::uint32_t, int>& made) const;

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
