#include "db/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace stoker::db {

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
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = NORMAL");
  database.exec("PRAGMA foreign_keys = ON");
  const int found = database.execAndGet("PRAGMA user_version").getInt();
  const int known = static_cast<int>(schemas.size());
  if (found > known) {
    throw Newer{fmt::format("its schema is version {}, and this Stoker knows {}", found, known)};
  }
  if (found == known) return;
  SQLite::Transaction all(database);
  for (int version = found; version < known; ++version) {
    database.exec(schemas[static_cast<std::size_t>(version)]);
  }
  database.exec(fmt::format("PRAGMA user_version = {}", known));
  all.commit();
}

}  // namespace stoker::db
