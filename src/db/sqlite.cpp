#include "db/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <thread>

#include "base/clock.h"

namespace stoker::db {
namespace {

// Turning to WAL needs the file alone, and SQLite's busy handler does not wait for that
// (https://sqlite.org/wal.html, "Sometimes Queries Return SQLITE_BUSY In WAL Mode").
constexpr Nanoseconds turned_within = Seconds(5);
constexpr Milliseconds between_tries{10};

void turn_to_wal(SQLite::Database& database) {
  const auto until = system_clock().monotonic() + turned_within;
  while (true) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (const SQLite::Exception& error) {
      const bool is_busy = code_of_sqlite(error.getErrorCode()) == ErrorCode::unavailable;
      if (!is_busy || system_clock().monotonic() >= until) throw;
    }
    std::this_thread::sleep_for(between_tries);
  }
}

int version_of(SQLite::Database& database) {
  return database.execAndGet("PRAGMA user_version").getInt();
}

}  // namespace

ErrorCode code_of_sqlite(int code) {
  switch (code) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::corrupt;
    case SQLITE_PERM:
    case SQLITE_READONLY: return ErrorCode::no_permission;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorCode::unavailable;
    default: return ErrorCode::io;
  }
}

void prepare_file(SQLite::Database& database, std::span<const char* const> schemas) {
  turn_to_wal(database);
  database.exec("PRAGMA synchronous = NORMAL");
  database.exec("PRAGMA foreign_keys = ON");
  const int found = version_of(database);
  const int known = static_cast<int>(schemas.size());
  if (found > known) {
    throw Newer{fmt::format("its schema is version {}, and this Stoker knows {}", found, known)};
  }
  if (found == known) return;
  // Another process may be at the same: the second waits for the first, and finds it done.
  SQLite::Transaction all(database, SQLite::TransactionBehavior::IMMEDIATE);
  for (int version = version_of(database); version < known; ++version) {
    database.exec(schemas[static_cast<std::size_t>(version)]);
  }
  database.exec(fmt::format("PRAGMA user_version = {}", known));
  all.commit();
}

}  // namespace stoker::db
