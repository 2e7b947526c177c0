#include "db/diag_db.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <array>
#include <utility>

#include "db/sqlite.h"

namespace stoker::db {
namespace {

// One after the other; a file of an earlier version gets those that it lacks.
constexpr std::array<const char*, 2> diag_schemas = {R"(
CREATE TABLE diag_run (
  id INTEGER PRIMARY KEY,
  started TEXT NOT NULL,
  driver TEXT NOT NULL
);
CREATE TABLE diag_result (
  run INTEGER NOT NULL REFERENCES diag_run ON DELETE CASCADE,
  card TEXT NOT NULL,
  uuid TEXT NOT NULL,
  product TEXT NOT NULL,
  gpu INTEGER NOT NULL,
  test TEXT NOT NULL,
  verdict TEXT NOT NULL,
  value REAL,
  unit TEXT NOT NULL,
  power_watts REAL,
  reason TEXT NOT NULL
);
CREATE INDEX diag_result_of_card ON diag_result (card, test, run);
)",
                                                     R"(
ALTER TABLE diag_result ADD COLUMN made_level INTEGER NOT NULL DEFAULT 0;
CREATE INDEX diag_result_of_gpu ON diag_result (uuid, run);
CREATE TABLE diag_turn (
  uuid TEXT NOT NULL,
  began TEXT NOT NULL,
  ended TEXT NOT NULL,
  reason TEXT NOT NULL,
  in_a_row INTEGER NOT NULL,
  kept INTEGER NOT NULL,
  PRIMARY KEY (uuid, ended)
);
)"};

constexpr const char* find_rows =
    "SELECT started, card, uuid, product, driver, gpu, test, verdict, value, unit, power_watts, "
    "reason, made_level FROM diag_result JOIN diag_run ON diag_run.id = run WHERE {} AND "
    "(?2 = '' OR test = ?2) ORDER BY run DESC, diag_result.rowid LIMIT ?3";
constexpr const char* of_any_name = "(?1 = '' OR card = ?1 OR uuid = ?1)";
constexpr const char* of_gpu =
    "((?1 <> '' AND uuid = ?1) OR (uuid = '' AND card = ?4 AND ?4 <> ''))";

void bind(SQLite::Statement& row, int place, const std::optional<double>& value) {
  if (value) {
    row.bind(place, *value);
  } else {
    row.bind(place);
  }
}

std::optional<double> number_at(const SQLite::Statement& row, int place) {
  const auto column = row.getColumn(place);
  return column.isNull() ? std::nullopt : std::optional(column.getDouble());
}

class DiagFile final : public DiagDb {
 public:
  DiagFile(std::string path, SQLite::Database database)
      : path_(std::move(path)), database_(std::move(database)) {}

  Result<void> save(std::span<const DiagRow> rows) override {
    if (rows.empty()) return {};
    return tried<void>(path_, [&] {
      SQLite::Transaction all(database_);
      SQLite::Statement run(database_, "INSERT INTO diag_run (started, driver) VALUES (?, ?)");
      run.bind(1, rows.front().started);
      run.bind(2, rows.front().driver);
      run.exec();
      const std::int64_t id = database_.getLastInsertRowid();
      for (const auto& row : rows) write(id, row);
      database_.exec(
          fmt::format("DELETE FROM diag_run WHERE id NOT IN (SELECT id FROM diag_run ORDER BY id "
                      "DESC LIMIT {})",
                      most_runs));
      all.commit();
    });
  }

  Result<std::vector<DiagRow>> find(const DiagQuery& query) override {
    return tried<std::vector<DiagRow>>(path_, [&] {
      SQLite::Statement rows(
          database_, fmt::format(fmt::runtime(find_rows), query.gpu ? of_gpu : of_any_name));
      rows.bind(1, query.gpu ? query.gpu->uuid : query.card);
      rows.bind(2, query.test);
      rows.bind(3, static_cast<std::int64_t>(query.most));
      if (query.gpu) rows.bind(4, query.gpu->serial);
      std::vector<DiagRow> out;
      while (rows.executeStep()) out.push_back(read(rows));
      return out;
    });
  }

  Result<void> save_turns(const std::string& uuid, std::span<const DiagTurn> turns) override {
    return tried<void>(path_, [&] {
      SQLite::Transaction all(database_);
      SQLite::Statement old(database_, "DELETE FROM diag_turn WHERE uuid = ?");
      old.bind(1, uuid);
      old.exec();
      for (const auto& turn : turns) {
        SQLite::Statement row(database_, "INSERT INTO diag_turn VALUES (?, ?, ?, ?, ?, ?)");
        row.bind(1, uuid);
        row.bind(2, turn.began);
        row.bind(3, turn.end);
        row.bind(4, turn.reason);
        row.bind(5, turn.in_a_row);
        row.bind(6, turn.kept ? 1 : 0);
        row.exec();
      }
      all.commit();
    });
  }

  Result<std::vector<DiagTurn>> turns() override {
    return tried<std::vector<DiagTurn>>(path_, [&] {
      SQLite::Statement rows(database_,
                             "SELECT uuid, began, ended, reason, in_a_row, kept FROM diag_turn");
      std::vector<DiagTurn> out;
      while (rows.executeStep()) {
        out.push_back({.uuid = rows.getColumn(0).getString(),
                       .began = rows.getColumn(1).getString(),
                       .end = rows.getColumn(2).getString(),
                       .reason = rows.getColumn(3).getString(),
                       .in_a_row = rows.getColumn(4).getInt(),
                       .kept = rows.getColumn(5).getInt() != 0});
      }
      return out;
    });
  }

 private:
  void write(std::int64_t run, const DiagRow& one) {
    SQLite::Statement row(database_,
                          "INSERT INTO diag_result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    row.bind(1, run);
    row.bind(2, one.card);
    row.bind(3, one.uuid);
    row.bind(4, one.product);
    row.bind(5, static_cast<std::int64_t>(one.gpu));
    row.bind(6, one.test);
    row.bind(7, one.verdict);
    bind(row, 8, one.value);
    row.bind(9, one.unit);
    bind(row, 10, one.power_watts);
    row.bind(11, one.reason);
    row.bind(12, one.made_level);
    row.exec();
  }

  static DiagRow read(const SQLite::Statement& row) {
    return {.started = row.getColumn(0).getString(),
            .card = row.getColumn(1).getString(),
            .uuid = row.getColumn(2).getString(),
            .product = row.getColumn(3).getString(),
            .driver = row.getColumn(4).getString(),
            .gpu = row.getColumn(5).getUInt(),
            .test = row.getColumn(6).getString(),
            .verdict = row.getColumn(7).getString(),
            .value = number_at(row, 8),
            .unit = row.getColumn(9).getString(),
            .power_watts = number_at(row, 10),
            .reason = row.getColumn(11).getString(),
            .made_level = row.getColumn(12).getInt()};
  }

  const std::string path_;
  SQLite::Database database_;
};

}  // namespace

Result<std::unique_ptr<DiagDb>> DiagDb::open(const std::string& path) {
  constexpr int wait_milliseconds = 2000;
  return tried<std::unique_ptr<DiagDb>>(path, [&]() -> std::unique_ptr<DiagDb> {
    SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                              wait_milliseconds);
    prepare_file(database, diag_schemas);
    return std::make_unique<DiagFile>(path, std::move(database));
  });
}

}  // namespace stoker::db
