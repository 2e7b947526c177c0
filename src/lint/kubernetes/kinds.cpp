#include "lint/kubernetes/kinds.h"

#include <array>

namespace stoker::lint::kubernetes {
namespace {

constexpr auto kind_rows = std::to_array<KindRow>({
#define STOKER_KIND(group, kind, path, form, role, purpose, gives) \
  KindRow{group, kind, path, Form::form, role, Purpose::purpose, Gives::gives},
#include "lint/kubernetes/kinds.def"
#undef STOKER_KIND
});

}  // namespace

const char* to_string(Purpose purpose) {
  switch (purpose) {
    case Purpose::unknown: return "unknown";
    case Purpose::training: return "training";
    case Purpose::serving: return "serving";
    case Purpose::benchmark: return "benchmark";
    case Purpose::system: return "system";
    case Purpose::notebook: return "notebook";
  }
  return "unknown";
}

std::span<const KindRow> all_kinds() { return kind_rows; }

std::string_view group_of(std::string_view api_version) {
  const auto slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

}  // namespace stoker::lint::kubernetes
