#include "device/record/identifiers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace stoker::device::record {
namespace {

constexpr std::string_view shape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";  // of a UUID (RFC 4122)
constexpr std::string_view made_up_host = "node";

bool is_uuid_at(std::string_view text, std::size_t at) {
  if (text.size() - at < shape.size()) return false;
  for (std::size_t n = 0; n < shape.size(); ++n) {
    const char c = text[at + n];
    const bool fits =
        shape[n] == '-' ? c == '-' : std::isxdigit(static_cast<unsigned char>(c)) != 0;
    if (!fits) return false;
  }
  return true;
}

}  // namespace

std::string Identifiers::uuid(std::string_view real) {
  const auto [at, added] = uuids_.try_emplace(std::string(real));
  if (added) at->second = fmt::format("00000000-0000-0000-0000-{:012x}", uuids_.size());
  return at->second;
}

void Identifiers::serial(std::string& text) {
  if (text.empty()) return;
  const auto [at, added] = serials_.try_emplace(text);
  if (added) at->second = fmt::format("{:0{}}", serials_.size(), text.size());
  text = at->second;
}

void Identifiers::text(std::string& text) {
  for (std::size_t at = 0; at + shape.size() <= text.size(); ++at) {
    if (is_uuid_at(text, at)) text.replace(at, shape.size(), uuid(text.substr(at, shape.size())));
  }
  for (const auto& [real, made_up] : serials_) replace_all(text, real, made_up);
  replace_all(text, hostname_, made_up_host);
}

struct Identifiers::Visit {
  Identifiers& of;

  void operator()(Begin& begin) const {
    of.hostname_ = begin.hostname;
    begin.hostname = made_up_host;
  }
  void operator()(StatusTold& told) const { of.text(told.status.detail); }
  void operator()(DriverSeen& seen) const {
    for (std::string& note : seen.driver.abi_notes) of.text(note);
  }
  void operator()(InventorySeen& seen) const {
    for (GpuInfo& gpu : seen.gpus) {
      of.serial(gpu.serial);
      of.text(gpu.uuid);
      for (MigInfo& mig : gpu.migs) of.text(mig.uuid);
    }
  }
  void operator()(StateTold& told) const { of.text(told.detail); }
  void operator()(DevicesSeen& seen) const {
    of.text(seen.devices.gpus_problem);
    of.text(seen.devices.nics_problem);
  }
  template <typename Other>
  void operator()(Other& /*has none*/) const {}
};

void Identifiers::replace(What& what) { std::visit(Visit{*this}, what); }

}  // namespace stoker::device::record
