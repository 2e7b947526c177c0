#include "catalog/dcgm_names.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace stoker {
namespace {

struct DcgmRow {
  int id;
  std::string_view names;  // with blanks between them
};

constexpr auto dcgm_rows = std::to_array<DcgmRow>({
#define STOKER_DCGM(id, names) {id, names},
#include "catalog/dcgm_names.def"
#undef STOKER_DCGM
});

using Index = std::unordered_map<std::string_view, int>;

const Index& by_name() {
  static const Index index = [] {
    Index all;
    for (const DcgmRow& row : dcgm_rows) {
      std::string_view rest = row.names;
      while (!rest.empty()) {
        const auto end = std::min(rest.find(' '), rest.size());
        all.emplace(rest.substr(0, end), row.id);
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    return all;
  }();
  return index;
}

}  // namespace

std::optional<int> dcgm_id_of(std::string_view name) {
  const auto found = by_name().find(name);
  if (found == by_name().end()) return std::nullopt;
  return found->second;
}

const Field* field_of_dcgm(int dcgm_id) {
  const auto all = all_fields();
  const auto found = std::find_if(all.begin(), all.end(), [dcgm_id](const Field& row) {
    return row.dcgm_id == dcgm_id && !row.dcgm_name.empty();
  });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> dcgm_names() {
  std::vector<std::string> names;
  names.reserve(by_name().size());
  for (const auto& [name, id] : by_name()) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stoker
