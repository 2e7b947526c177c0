// Device stage: PCIe, NVLink and the NVLink fabric.
#include <algorithm>
#include <array>
#include <cstddef>

#include "device/nvml/field_ids.h"
#include "device/nvml/getters.h"

namespace stoker::nvml {
namespace {

constexpr std::size_t error_kinds = 3;  // replay, recovery, CRC: the fields' argument

device::Target link_target(const device::NvLinkInfo& link) {
  return {EntityKind::nvlink, link.link};
}

// Field ids that tell one link's errors, Hopper on; by argument.
constexpr std::array<abi::FieldId, error_kinds> error_ids{
    abi::FieldId::nvlink_dl_replay, abi::FieldId::nvlink_dl_recovery, abi::FieldId::nvlink_dl_crc};

// All links and kinds in one call. False if the card has none of them: neither told, nor kept back for a
// reason that may pass (a GPU that is lost, a driver that is busy).
bool read_errors_by_field(const Card& card, const Fields& fields, Readings& out) {
  std::vector<abi::FieldValue> values;
  for (const device::NvLinkInfo& link : card.info.nvlinks) {
    for (const Field* field : fields) {
      abi::FieldValue value{};
      value.field_id = static_cast<std::uint32_t>(error_ids.at(field->argument));
      value.scope_id = link.link;
      value.type = abi::unset_type;
      values.push_back(value);
    }
  }
  const Called called = timed(card.clock(), card.nvml().nvmlDeviceGetFieldValues, card.device,
                              static_cast<int>(values.size()), values.data());
  bool has_them = false;
  std::size_t at = 0;
  for (const device::NvLinkInfo& link : card.info.nvlinks) {
    for (const Field* field : fields) {
      const Reading reading = value_of(called, values[at++]);
      has_them = has_them || reading.reason != Reason::not_supported;
      put(out, *field, reading, link_target(link));
    }
  }
  return has_them;
}

void read_errors_by_counter(const Card& card, const Fields& fields, Readings& out) {
  for (const device::NvLinkInfo& link : card.info.nvlinks) {
    for (const Field* field : fields) {
      std::uint64_t count = 0;
      const Called called =
          timed(card.clock(), card.nvml().nvmlDeviceGetNvLinkErrorCounter, card.device, link.link,
                static_cast<abi::NvLinkErrorCounter>(field->argument), &count);
      put(out, *field, called.ok() ? called.value(static_cast<std::int64_t>(count)) : called.none(),
          link_target(link));
    }
  }
}

template <typename Fabric>
Called ask_fabric_v(const Card& card, int version, abi::FabricState& state) {
  Fabric info{};
  info.version = abi::version_tag<Fabric>(static_cast<std::uint32_t>(version));
  const Called called = timed(card.clock(), card.nvml().nvmlDeviceGetGpuFabricInfoV, card.device,
                              static_cast<void*>(&info));
  state = info.state;
  return called;
}

// The newest struct that this driver knows by the ABI table.
Called ask_fabric(const Card& card, abi::FabricState& state) {
  const AbiRow* const row = row_for("nvmlDeviceGetGpuFabricInfoV", card.session->abi.version);
  if (row != nullptr && row->version == 3) {
    return ask_fabric_v<abi::FabricInfoV3>(card, 3, state);
  }
  if (row != nullptr && row->version == 2) {
    return ask_fabric_v<abi::FabricInfoV2>(card, 2, state);
  }
  abi::FabricInfo info{};
  const Called called =
      timed(card.clock(), card.nvml().nvmlDeviceGetGpuFabricInfo, card.device, &info);
  state = info.state;
  return called;
}

}  // namespace

// Argument: 0 generation, 1 width.
void read_pcie_link(Card& card, const Fields& fields, Readings& out) {
  const abi::Functions& nvml = card.nvml();
  for (const Field* field : fields) {
    auto* const function = field->argument == 0 ? nvml.nvmlDeviceGetCurrPcieLinkGeneration
                                                : nvml.nvmlDeviceGetCurrPcieLinkWidth;
    unsigned value = 0;
    const Called called = timed(card.clock(), function, card.device, &value);
    put(out, *field, called.ok() ? called.value(std::int64_t{value}) : called.none());
  }
}

void read_nvlink_state(Card& card, const Fields& fields, Readings& out) {
  for (const device::NvLinkInfo& link : card.info.nvlinks) {
    abi::EnableState state{};
    const Called called =
        timed(card.clock(), card.nvml().nvmlDeviceGetNvLinkState, card.device, link.link, &state);
    for (const Field* field : fields) {
      put(out, *field, called.ok() ? called.value(static_cast<std::int64_t>(state)) : called.none(),
          link_target(link));
    }
  }
}

void read_nvlink_errors(Card& card, const Fields& fields, Readings& out) {
  using Source = Card::LinkErrorSource;
  if (card.info.nvlinks.empty()) return;
  if (card.link_errors != Source::counters) {
    const std::size_t before = out.size();
    if (read_errors_by_field(card, fields, out)) {
      const bool told = std::any_of(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(),
                                    [](const auto& one) { return one.reading.ok(); });
      if (told) card.link_errors = Source::field_values;
      return;
    }
    if (card.link_errors == Source::field_values) return;
    out.resize(before);
    card.link_errors = Source::counters;
  }
  read_errors_by_counter(card, fields, out);
}

void read_fabric(Card& card, const Fields& fields, Readings& out) {
  abi::FabricState state = abi::FabricState::not_supported;
  const Called called = ask_fabric(card, state);
  for (const Field* field : fields) {
    put(out, *field, called.ok() ? called.value(static_cast<std::int64_t>(state)) : called.none());
  }
}

}  // namespace stoker::nvml
