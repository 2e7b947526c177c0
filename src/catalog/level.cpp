#include "catalog/level.h"

namespace stoker {

const char* to_string(FaultLevel level) {
  switch (level) {
    case FaultLevel::application: return "application";
    case FaultLevel::hardware: return "hardware";
    case FaultLevel::driver: return "driver";
    case FaultLevel::link: return "link";
    case FaultLevel::info: return "info";
  }
  return "info";
}

}  // namespace stoker
