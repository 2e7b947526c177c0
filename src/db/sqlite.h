// Edge: what every SQLite file of ours shares: its errors as ours, and its schema brought up to this version.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <exception>
#include <span>
#include <string>
#include <type_traits>

#include "base/result.h"

namespace stoker::db {

ErrorCode code_of_sqlite(int code);

// A newer Stoker wrote the file.
struct Newer {
  std::string what;
};

// Runs `action` on the database at `path`; what it throws becomes an Error that names the file.
template <typename T, typename Do>
Result<T> tried(const std::string& path, Do action) {
  try {
    if constexpr (std::is_void_v<T>) {
      action();
      return {};
    } else {
      return action();
    }
  } catch (const Newer& newer) {
    return fail(ErrorCode::not_supported, path + ": " + newer.what);
  } catch (const SQLite::Exception& error) {
    return fail(code_of_sqlite(error.getErrorCode()), path + ": " + error.what());
  } catch (const std::exception& error) {
    return fail(ErrorCode::corrupt, path + ": " + error.what());
  }
}

// WAL, foreign keys, and those of `schemas` that the file lacks, each after the one before; any number of processes may do so
// at once. Throws Newer where the file has more of them.
void prepare_file(SQLite::Database& database, std::span<const char* const> schemas);

}  // namespace stoker::db
