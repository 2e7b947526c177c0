// Device stage: libnvidia-ml as function pointers. Finds the library, loads it for good and resolves
// what the reader calls; what it lacks stays null, and null means "not supported".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device/nvml/driver.h"
#include "device/nvml/functions.h"

namespace stoker::nvml {

// Address of a symbol, or null. dlsym of one library, or a test's own table.
using Resolver = std::function<void*(const char* symbol)>;

struct Library {
  abi::Functions functions;  // `acting` and `compat` rows are never resolved here
  bool simulated = false;    // it exports stokerSimulatedDriver
  std::string path;          // as it was loaded
};

// Loads `path`, or the first that loads of library_candidates() where `path` is empty.
tl::expected<Library, DriverFailure> load_library(const std::string& path);

// The same from a resolver: refused where a `required` symbol is missing.
tl::expected<Library, DriverFailure> resolve_library(const Resolver& resolve, std::string path);

// Where libnvidia-ml.so.1 may lie, in the order of trying.
std::vector<std::string> library_candidates();

}  // namespace stoker::nvml
