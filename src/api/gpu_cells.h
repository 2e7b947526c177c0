// Edge: the cells of a GPU's row, for status and gpus alike. Internal to src/api.
#pragma once

#include <string>
#include <string_view>

#include "api/document_reader.h"

namespace stoker::api {

// The number of `key` with `digits` after the point, divided by `divisor`; where it is missing, a short
// word for its reason: "n/a", "lost", "hung", "old", ... Never 0 for "none".
std::string number_cell(const Json& gpu, const std::string& key, int digits = 0,
                        double divisor = 1);

inline constexpr double gibibyte = 1024.0 * 1024 * 1024;

// A short word for why `key` is missing; "-" where the object has none, "?" where nothing is said.
std::string reason_cell(const Json& object, const std::string& key);

// "0.5/79.6": used of all, in GiB.
std::string memory_cell(const Json& gpu);
// "76/700": now, of the limit in force, in W.
std::string power_cell(const Json& gpu);
// "H100 80GB HBM3": without the maker, at most `width` columns.
std::string name_cell(const Json& gpu, std::size_t width);

}  // namespace stoker::api
