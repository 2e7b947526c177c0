// Edge: incidents and how far each log was read, in one SQLite file, so that neither a restart nor a kill loses an
// incident or opens one twice: both are written in one transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/incident.h"

namespace stoker::db {

// A target of messages. What was over before it was there is nothing that it has to be told.
struct TargetMark {
  std::string name;
  std::uint64_t after = 0;  // the last incident of that time
  friend bool operator==(const TargetMark&, const TargetMark&) = default;
};

struct Kept {
  std::vector<Incident> incidents;  // those that are not over and the last that are; oldest first
  std::vector<ReadMark> marks;
  std::vector<SentMark> sent;
  std::vector<TargetMark> targets;
};

// One thread at a time. A write is safe from a kill when save() returns, and from a power cut within seconds (WAL,
// synchronous=NORMAL: https://www.sqlite.org/pragma.html#pragma_synchronous).
class IncidentDb {
 public:
  // Incidents that are over are kept up to this number.
  static constexpr int most_kept = 10'000;

  // Makes the file where there is none. corrupt: it is no database, or does not hold together; not_supported: a newer
  // Stoker wrote it; else what the system says.
  static Result<std::unique_ptr<IncidentDb>> open(const std::string& path);
  virtual ~IncidentDb() = default;

  // `most_over`: how many of those that are over.
  virtual Result<Kept> load(std::size_t most_over) = 0;
  virtual Result<void> save(const SentMark& sent) = 0;
  // Of a target that is not there yet.
  virtual Result<void> save(const TargetMark& target) = 0;
  // All or nothing.
  virtual Result<void> save(std::span<const Incident> incidents,
                            std::span<const ReadMark> marks) = 0;
};

}  // namespace stoker::db
