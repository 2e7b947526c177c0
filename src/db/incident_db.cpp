#include "db/incident_db.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <utility>

#include "db/incident_rows.h"
#include "db/sqlite.h"

namespace stoker::db {
namespace {

// One after the other; a file of an earlier version gets those that it lacks.
constexpr std::array<const char*, 3> incident_schemas = {incident_schema, told_schema, look_schema};

class Database final : public IncidentDb {
 public:
  Database(std::string path, SQLite::Database database)
      : path_(std::move(path)), database_(std::move(database)) {}

  Result<Kept> load(std::size_t most_over) override {
    return tried<Kept>(path_, [&] { return read(most_over); });
  }

  Result<void> save(std::span<const Incident> incidents, std::span<const ReadMark> marks) override {
    return tried<void>(path_, [&] {
      SQLite::Transaction all(database_);
      for (const auto& incident : incidents) write_incident(database_, incident);
      for (const auto& mark : marks) write(mark);
      all.commit();
    });
  }

  Result<void> save(const SentMark& sent) override {
    return tried<void>(path_, [&] {
      SQLite::Statement row(
          database_,
          "INSERT INTO sent VALUES (?, ?, ?) ON CONFLICT (incident, target) DO UPDATE "
          "SET revision = excluded.revision");
      row.bind(1, static_cast<std::int64_t>(sent.incident));
      row.bind(2, sent.target);
      row.bind(3, static_cast<std::int64_t>(sent.revision));
      row.exec();
    });
  }

  Result<void> save(const TargetMark& target) override {
    return tried<void>(path_, [&] {
      SQLite::Statement row(database_, "INSERT INTO target VALUES (?, ?)");
      row.bind(1, target.name);
      row.bind(2, static_cast<std::int64_t>(target.after));
      row.exec();
    });
  }

  Result<void> prepare() {
    return tried<void>(path_, [this] {
      prepare_file(database_, incident_schemas);
      database_.exec(fmt::format(
          "DELETE FROM incident WHERE state = 'resolved' AND id NOT IN (SELECT id FROM incident "
          "WHERE state = 'resolved' ORDER BY id DESC LIMIT {})",
          most_kept));
    });
  }

 private:
  Kept read(std::size_t most_over) {
    Kept kept;
    SQLite::Statement rows(
        database_,
        "SELECT * FROM incident WHERE state <> 'resolved' OR id IN (SELECT id FROM incident "
        "WHERE state = 'resolved' ORDER BY id DESC LIMIT ?) ORDER BY id");
    rows.bind(1, static_cast<std::int64_t>(most_over));
    while (rows.executeStep()) kept.incidents.push_back(read_incident(database_, rows));
    SQLite::Statement marks(database_, "SELECT source, boot, place, at, since FROM read_mark");
    while (marks.executeStep()) {
      kept.marks.push_back({marks.getColumn(0).getString(),
                            marks.getColumn(1).getString(),
                            static_cast<std::uint64_t>(marks.getColumn(2).getInt64()),
                            {Nanoseconds(marks.getColumn(3).getInt64())},
                            {Nanoseconds(marks.getColumn(4).getInt64())}});
    }
    SQLite::Statement sent(database_, "SELECT target, incident, revision FROM sent");
    while (sent.executeStep()) {
      kept.sent.push_back({sent.getColumn(0).getString(),
                           static_cast<std::uint64_t>(sent.getColumn(1).getInt64()),
                           static_cast<std::uint64_t>(sent.getColumn(2).getInt64())});
    }
    SQLite::Statement targets(database_, "SELECT name, after FROM target");
    while (targets.executeStep()) {
      kept.targets.push_back({targets.getColumn(0).getString(),
                              static_cast<std::uint64_t>(targets.getColumn(1).getInt64())});
    }
    return kept;
  }

  void write(const ReadMark& mark) {
    SQLite::Statement row(database_,
                          "INSERT INTO read_mark VALUES (?, ?, ?, ?, ?) ON CONFLICT (source) DO "
                          "UPDATE SET boot = excluded.boot, "
                          "place = excluded.place, at = excluded.at, since = excluded.since");
    row.bind(1, mark.source);
    row.bind(2, mark.boot);
    row.bind(3, static_cast<std::int64_t>(mark.offset));
    row.bind(4, static_cast<std::int64_t>(mark.at.since_boot.count()));
    row.bind(5, static_cast<std::int64_t>(mark.since.since_epoch.count()));
    row.exec();
  }

  const std::string path_;
  SQLite::Database database_;
};

}  // namespace

Result<std::unique_ptr<IncidentDb>> IncidentDb::open(const std::string& path) {
  constexpr int wait_milliseconds = 1000;
  try {
    auto database = std::make_unique<Database>(
        path,
        SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, wait_milliseconds));
    if (auto ready = database->prepare(); !ready) return fail(ready.error());
    return database;
  } catch (const SQLite::Exception& error) {
    return fail(code_of_sqlite(error.getErrorCode()), fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace stoker::db
