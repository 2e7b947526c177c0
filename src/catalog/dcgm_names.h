// Catalogue: the names of DCGM's fields, also of those that Stoker does not read. Rows stand in
// dcgm_names.def.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/field.h"

namespace stoker {

// DCGM's id of the field that `name` stands for, in any of its spellings; nullopt if DCGM has none.
std::optional<int> dcgm_id_of(std::string_view name);

// The row of fields.def for DCGM's id; nullptr where Stoker does not read that field.
const Field* field_of_dcgm(int dcgm_id);

// Every spelling of every field.
std::vector<std::string> dcgm_names();

}  // namespace stoker
