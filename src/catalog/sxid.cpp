#include "catalog/sxid.h"

#include <algorithm>
#include <array>

namespace stoker {
namespace {

struct Name {
  std::uint32_t number;
  std::string_view name;
};
constexpr auto names = std::to_array<Name>({
#define STOKER_SXID(number, name) {number, name},
#include "catalog/sxids.def"
#undef STOKER_SXID
});

struct Class {
  std::uint32_t number;
  std::string_view text;
  SxidClass kind;
  std::string_view gpud;
};
constexpr auto classes = std::to_array<Class>({
#define STOKER_SXID_CLASS(number, text, kind, gpud) {number, text, SxidClass::kind, gpud},
#include "catalog/sxid_classes.def"
#undef STOKER_SXID_CLASS
});

// NVIDIA's class says whether anything is to be done; what, gpud says, and where it says nothing the vendor must.
Action action_of(const Class& row) {
  if (row.kind == SxidClass::non_fatal) return Action::observe;
  return row.gpud.starts_with('R') ? Action::reboot : Action::contact_vendor;
}

}  // namespace

const char* to_string(SxidClass kind) {
  switch (kind) {
    case SxidClass::not_documented: return "not documented";
    case SxidClass::non_fatal: return "non-fatal";
    case SxidClass::potentially_fatal: return "potentially fatal";
    case SxidClass::always_fatal: return "always fatal";
  }
  return "not documented";
}

Sxid find_sxid(std::uint64_t number) {
  const auto* name = std::ranges::find(names, number, &Name::number);
  if (name == names.end()) return {};
  Sxid sxid{.number = name->number,
            .name = name->name,
            .source = "open-gpu-kernel-modules, ctrl_dev_nvswitch.h"};
  const auto* row = std::ranges::find(classes, number, &Class::number);
  if (row == classes.end()) return sxid;
  sxid.kind = row->kind;
  sxid.text = row->text;
  sxid.gpud = row->gpud;
  sxid.action = action_of(*row);
  sxid.source = "NVIDIA Fabric Manager User Guide, by leptonai/gpud 4a8de33a";
  return sxid;
}

}  // namespace stoker
