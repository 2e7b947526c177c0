// Edge: results of active tests in one SQLite file, card by card, so that one that becomes slower shows; and how the last run
// that the agent's schedule made on each card ended.
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
  std::string card;     // for people: its serial number; its UUID where it tells none
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
  int made_level = 0;  // the level whose tests this run made, all of them, on this card; 0: of none
};

// One GPU. A serial number is its board's, which may have several; a UUID is the GPU's own
// (https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceQueries.html, nvmlDeviceGetSerial, nvmlDeviceGetUUID).
struct DiagGpu {
  std::string uuid;    // empty: it tells none
  std::string serial;  // of which rows without a UUID are taken too; empty: none are
};

// How runs that the schedule made on a card ended: the last one of each end.
struct DiagTurn {
  std::string uuid;
  std::string began;  // RFC 3339
  std::string end;    // a word of model/test_schedule.h
  std::string reason;
  int in_a_row = 1;   // runs that ended so, with this one
  bool kept = false;  // there are rows of what it found
};

// What is asked for; empty: all.
struct DiagQuery {
  std::string card;            // serial number or UUID, as people name it
  std::optional<DiagGpu> gpu;  // exactly this one
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

  // In the place of those that were kept of this card.
  virtual Result<void> save_turns(const std::string& uuid, std::span<const DiagTurn> turns) = 0;
  virtual Result<std::vector<DiagTurn>> turns() = 0;
};

}  // namespace stoker::db
