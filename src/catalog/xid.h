// Catalogue: Xids, the error numbers of NVIDIA's kernel driver: what each means, what to do, and who says so.
// The rows stand in xids.def and the files beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "catalog/driver_version.h"
#include "catalog/level.h"
#include "model/action.h"

namespace stoker {

struct Xid {
  std::uint32_t number = 0;
  std::string_view mnemonic;
  std::string_view text;  // "Unused" where no product of NVIDIA's catalogue reports it
  std::optional<FaultLevel> level;
  Action action = Action::contact_vendor;
  std::string_view immediate;  // NVIDIA's bucket; empty: none is published
  std::string_view then;       // its bucket for the investigation
  std::string_view products;   // "yyyn": A100, H100, B100, GB200; empty: not documented
  std::string_view since;      // first driver tag that is known to define it; empty: none is
  bool recovery = false;       // NVIDIA links it to Xid 154
};

// The oldest tag of the driver's public source: what it defines may be older.
inline constexpr std::string_view oldest_driver_tag = "515.43.04";

// nullptr: a number that is not known.
const Xid* find_xid(std::uint64_t number);

// What a number meant from one driver tag on.
struct XidMeaning {
  std::uint32_t number = 0;
  std::string_view since;
  std::string_view mnemonic;
  bool same = false;  // find_xid()'s facts hold
};
// Oldest first; empty where the number never meant anything else.
std::span<const XidMeaning> xid_meanings(std::uint64_t number);

// An Xid as one driver means it.
struct XidReading {
  enum class Known : std::uint8_t {
    yes,
    other_meaning,  // this driver meant something else; `facts` are of the number that has this meaning now, if any
    not_defined,  // this driver is older than the number
    no,           // the number is not known
  };
  Known known = Known::no;
  std::string_view mnemonic;
  const Xid* facts = nullptr;
};
// Without a driver: as the newest means it.
XidReading read_xid_number(std::uint64_t number, const std::optional<DriverVersion>& driver);

struct XidPeers {
  std::uint32_t number = 0;
  std::string_view dcgm;
  std::string_view gpud;
  std::string_view causes;
  bool ignored_by_device_plugin = false;
  bool fails_azure_node = false;
};
const XidPeers* find_xid_peers(std::uint64_t number);
std::vector<std::string_view> xid_notes(std::uint64_t number);
// A bucket of NVIDIA's in words; empty: not known.
std::string_view xid_bucket_words(std::string_view bucket);
// The document that Xid `number` is in.
std::string_view xid_source(std::uint64_t number);

// The words of an Xid 154, "GPU Reset Required", as an action; contact_vendor for words that are not known.
Action recovery_action(std::string_view words);

struct Nvlink5Row {
  std::uint32_t xid;
  std::string_view unit;
  std::uint32_t keep1, want1, keep2, want2, status;
  Action action;
  std::string_view immediate, promoted, then, severity, where;
};
// What the words of an Xid 144 to 150 say; nullptr: NVIDIA's table has no such row. Without a driver both ways of
// naming the unit are tried, the newer first.
const Nvlink5Row* read_nvlink5(std::uint32_t xid, std::uint32_t intr_info, std::uint32_t status,
                               const std::optional<DriverVersion>& driver);

// "GPU has fallen off the bus" for 79; "No Error" for 0, and "Unknown Error" for a number that we don't know or that
// nothing uses: dcgm-exporter's words (internal/pkg/collector/xid_errors.go).
std::string_view xid_name(std::uint64_t number);

}  // namespace stoker
