// Is a name one that this NCCL reads?
#include <fmt/format.h>

#include "lint/env/checks.h"

namespace stoker::lint {
namespace {

// The oldest NCCL that is worth asking about where nobody says which one it is: PyTorch 2.1, of 2023, came with 2.18.
constexpr NcclVersion oldest_in_use{.major = 2, .minor = 18};

void check_unknown(const Variable& variable, EnvReport& report) {
  const auto meant = nearest_variable(variable.name);
  if (!meant.empty()) {
    report.add("nccl-misspelt", variable,
               fmt::format("nothing reads {}; did you mean {}?", variable.name, meant));
    return;
  }
  report.add("nccl-unknown", variable,
             fmt::format("neither NCCL nor torch reads {}", variable.name));
}

void check_other(const Variable& variable, const OtherVariable& other, EnvReport& report) {
  const bool renamed = other.instead.starts_with("TORCH_");
  report.add(renamed ? "torch-renamed" : "nccl-not-read", variable,
             other.instead.empty()
                 ? fmt::format("nothing reads {}: {}", variable.name, other.note)
                 : fmt::format("{} is called {}: {}", variable.name, other.instead, other.note));
}

}  // namespace

void check_name(const Variable& variable, const EnvContext& context, EnvReport& report) {
  if (const auto* other = find_other(variable.name)) return check_other(variable, *other, report);
  const auto* known = find_variable(variable.name);
  if (known == nullptr) {
    if (is_ours(variable.name)) check_unknown(variable, report);
    return;
  }
  const auto until = NcclVersion::parse(known->until);
  if (until && context.nccl.value_or(oldest_in_use) >= *until) {
    report.add("nccl-removed", variable,
               fmt::format("NCCL reads {} no more since {}{}", variable.name, until->text(),
                           context.nccl ? "; this one is " + context.nccl->text() : ""));
  }
  const auto since = NcclVersion::parse(known->since);
  if (since && context.nccl && *context.nccl < *since) {
    report.add("nccl-not-yet", variable,
               fmt::format("NCCL reads {} since {}; this one is {}", variable.name, since->text(),
                           context.nccl->text()));
  }
}

}  // namespace stoker::lint
