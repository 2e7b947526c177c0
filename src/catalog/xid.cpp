#include "catalog/xid.h"

namespace stoker {

std::string_view xid_name(std::uint64_t xid) {
  switch (xid) {
    case 0: return "No Error";
#define STOKER_XID(number, text) \
  case number: return text;
#include "catalog/xid_names.def"
#undef STOKER_XID
    default: return "Unknown Error";
  }
}

}  // namespace stoker
