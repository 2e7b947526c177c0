// Edge: results of active tests in one SQLite file, by the card's serial number, so that a card that becomes slower shows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace stoker::db {

// One test of one card in one run.
struct DiagRow {
  std::string started;  // of the run, RFC 3339
  std::string card;     // its serial number; its UUID where it tells none
  std::string uuid;
  std::string product;
  std::string driver;  // "580.159.04"
  std::uint32_t gpu = 0;
  std::string test;
  std::string verdict;  // pass, fail, not_tested
  std::optional<double> value;
  std::string unit;
  std::optional<double> power_watts;
  std::string reason;
};

// What is asked for; empty: all.
struct DiagQuery {
  std::string card;  // serial number or UUID
  std::string test;
  std::size_t most = 200;
};

// One thread at a time; any number of processes.
class DiagDb {
 public:
  // Runs are kept up to this number.
  static constexpr int most_runs = 2'000;

  // Makes the file where there is none; as IncidentDb::open.
  static Result<std::unique_ptr<DiagDb>> open(const std::string& path);
  virtual ~DiagDb() = default;

  // All rows of one run, or none.
  virtual Result<void> save(std::span<const DiagRow> rows) = 0;
  // Newest first.
  virtual Result<std::vector<DiagRow>> find(const DiagQuery& query) = 0;
};

}  // namespace stoker::db
