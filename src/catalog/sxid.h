// Catalogue: SXids, the error numbers of NVSwitches.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/action.h"

namespace stoker {

enum class SxidClass : std::uint8_t { not_documented, non_fatal, potentially_fatal, always_fatal };

const char* to_string(SxidClass kind);  // "potentially fatal"

struct Sxid {
  std::uint32_t number = 0;
  std::string_view name;  // of the driver's header
  SxidClass kind = SxidClass::not_documented;
  std::string_view text;  // NVIDIA's guide; empty where it does not have the number
  std::string_view gpud;  // R reboot, H hardware inspection
  Action action = Action::contact_vendor;
  std::string_view source;
};

// `number` is 0: not known.
Sxid find_sxid(std::uint64_t number);

}  // namespace stoker
