// Analyzer stage: what NCCL and torch.distributed read from the environment (variables.def).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::lint {

// A release of NCCL. Rows compare releases by major and minor alone.
struct NcclVersion {
  int major = 0;
  int minor = 0;

  // "2.21", "2.21.5", "2.21.5+cuda12.4"; nullopt: none of these.
  static std::optional<NcclVersion> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  friend auto operator<=>(const NcclVersion&, const NcclVersion&) = default;
};

// How a value is read.
enum class EnvKind : std::uint8_t {
  flag,             // strtoll, 0 or 1
  number,           // strtoll
  words,            // one of `values`
  level,            // LOC NVL PIX PXB PHB SYS (and C2C, NVB, PXN in paths), or the old 0 to 4
  interfaces,       // [^][=]name[,name..]
  gloo_interfaces,  // name[,name..]
  hcas,             // [^][=]name[:port..][,name..]
  algorithms,       // NCCL_ALGO
  protocols,        // NCCL_PROTO
  subsystems,       // NCCL_DEBUG_SUBSYS
  torch_flag,       // torch's getCvarBool: 0, 1, yes, no, true, false, ..
  torch_number,     // torch's getCvarInt: std::stoi
  text              // anything
};

struct KnownVariable {
  std::string_view name;
  std::string_view since;
  std::string_view until;
  EnvKind kind;
  std::string_view values;
  std::string_view does;
};

struct OtherVariable {
  std::string_view name;
  std::string_view instead;
  std::string_view note;
};

// The row of `name`; nullptr: nothing reads it under this name.
const KnownVariable* find_variable(std::string_view name);
const OtherVariable* find_other(std::string_view name);

// Is it a name that NCCL, torch.distributed or Gloo could read? Those of network plugins and of tests are theirs.
bool is_ours(std::string_view name);
// The known name of the same family that is at most two letters away from `name`, of a short one at most one; empty:
// there is none.
std::string_view nearest_variable(std::string_view name);
// All of them, of NCCL, torch and Gloo.
std::vector<std::string_view> variable_names();

}  // namespace stoker::lint
