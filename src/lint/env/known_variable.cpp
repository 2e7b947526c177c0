#include "lint/env/known_variable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/closest.h"
#include "base/text.h"

namespace stoker::lint {
namespace {

constexpr auto env_rows = std::to_array<KnownVariable>({
#define STOKER_ENV(name, since, until, kind, values, does) \
  {#name, since, until, EnvKind::kind, values, does},
#define STOKER_ENV_OTHER(name, instead, note)
#include "lint/env/variables.def"
#undef STOKER_ENV
#undef STOKER_ENV_OTHER
});

constexpr auto other_rows = std::to_array<OtherVariable>({
#define STOKER_ENV(name, since, until, kind, values, does)
#define STOKER_ENV_OTHER(name, instead, note) {#name, instead, note},
#include "lint/env/variables.def"
#undef STOKER_ENV
#undef STOKER_ENV_OTHER
});

constexpr auto own_families =
    std::to_array<std::string_view>({"NCCL_", "TORCH_NCCL_", "GLOO_", "TORCH_FR_"});

// Network plugins, tests and fork names that begin with NCCL_ and are read by somebody else: Google's GPUDirect-TCPX and
// FasTrak (cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx), NVIDIA's UCX and SHARP plugin
// (github.com/Mellanox/nccl-rdma-sharp-plugins), shim layers (github.com/google/nccl-fastsocket), nccl-tests, example
// tuners (nccl: ext-tuner), images (NCCL_VERSION).
constexpr auto foreign_beginnings = std::to_array<std::string_view>({"NCCL_GPUDIRECTTCPX_",
                                                                     "NCCL_FASTRAK_",
                                                                     "NCCL_FASTSOCKET_",
                                                                     "NCCL_SHIMNET_",
                                                                     "NCCL_TELEMETRY_",
                                                                     "NCCL_UCX_",
                                                                     "NCCL_SHARP_",
                                                                     "NCCL_PLUGIN_",
                                                                     "NCCL_IBEXT_",
                                                                     "NCCL_TESTS_",
                                                                     "NCCL_TEST_",
                                                                     "NCCL_TUNER_CONFIG_",
                                                                     "NCCL_VERSION",
                                                                     "NCCL_HOME",
                                                                     "NCCL_ROOT",
                                                                     "NCCL_DIR",
                                                                     "NCCL_PATH",
                                                                     "NCCL_LIB",
                                                                     "NCCL_INCLUDE",
                                                                     "NCCL_SRC",
                                                                     "NCCL_BUILD",
                                                                     "NCCL_INSTALL",
                                                                     "NCCL_PROFILE_",
                                                                     "NCCL_INSPECTOR_",
                                                                     "NCCL_DYNAMIC_CHUNK",
                                                                     "NCCL_CONF",
                                                                     "NCCL_SOCKET_REUSEADDR"});

}  // namespace

std::optional<NcclVersion> NcclVersion::parse(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto rest = text.substr(dot + 1);
  const auto major = whole_number<int>(text.substr(0, dot));
  const auto minor = whole_number<int>(rest.substr(0, rest.find_first_not_of("0123456789")));
  if (!major || !minor || *major < 1) return std::nullopt;
  return NcclVersion{.major = *major, .minor = *minor};
}

std::string NcclVersion::text() const { return fmt::format("{}.{}", major, minor); }

const KnownVariable* find_variable(std::string_view name) {
  const auto* row = std::ranges::find(env_rows, name, &KnownVariable::name);
  return row == env_rows.end() ? nullptr : row;
}

const OtherVariable* find_other(std::string_view name) {
  const auto* row = std::ranges::find(other_rows, name, &OtherVariable::name);
  return row == other_rows.end() ? nullptr : row;
}

bool is_ours(std::string_view name) {
  const auto begins = [&](std::string_view beginning) { return name.starts_with(beginning); };
  return std::ranges::any_of(own_families, begins) &&
         std::ranges::none_of(foreign_beginnings, begins);
}

std::string_view nearest_variable(std::string_view name) {
  const auto family = name.substr(0, name.find('_') + 1);
  // Of a short name two letters are half of it: NCCL_TEST is a script's own, not NCCL_NET.
  const std::size_t slip = name.size() - family.size() < 6 ? 1 : 2;
  std::string_view nearest;
  std::size_t least = slip + 1;
  for (const auto& row : env_rows) {
    const auto longer = std::max(row.name.size(), name.size());
    if (longer - std::min(row.name.size(), name.size()) > slip) continue;
    if (!row.name.starts_with(family)) continue;
    if (const auto apart = letters_apart(name, row.name); apart < least) {
      least = apart;
      nearest = row.name;
    }
  }
  return nearest;
}

std::vector<std::string_view> variable_names() {
  std::vector<std::string_view> names;
  names.reserve(env_rows.size());
  for (const auto& row : env_rows) names.push_back(row.name);
  return names;
}

}  // namespace stoker::lint
