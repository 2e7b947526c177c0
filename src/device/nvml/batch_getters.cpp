// Device stage: getters that ask for many numbers in one call, field values and GPM.
#include <array>

#include "device/nvml/field_ids.h"
#include "device/nvml/getters.h"

namespace stoker::nvml {
namespace {

// What a field id needs besides itself, where it is not "as it is, of the whole GPU".
struct FieldIdUse {
  abi::FieldId id;
  std::uint32_t scope;
  std::int64_t factor;  // NVML's unit in the field's
};

constexpr std::uint32_t all_links = 0xFFFFFFFF;  // UINT_MAX sums all links: nvml.h at these ids
constexpr std::int64_t kib = 1024;
constexpr auto uses = std::to_array<FieldIdUse>({
    {abi::FieldId::nvlink_data_tx_kib, all_links, kib},
    {abi::FieldId::nvlink_data_rx_kib, all_links, kib},
    {abi::FieldId::nvlink_raw_tx_kib, all_links, kib},
    {abi::FieldId::nvlink_raw_rx_kib, all_links, kib},
});

FieldIdUse use_of(std::uint32_t id) {
  for (const FieldIdUse& use : uses) {
    if (static_cast<std::uint32_t>(use.id) == id) return use;
  }
  return {static_cast<abi::FieldId>(id), 0, 1};
}

Reading scaled(const Reading& reading, std::int64_t factor) {
  if (!reading.ok() || factor == 1) return reading;
  Reading result = reading;
  if (const auto* whole = std::get_if<std::int64_t>(&reading.value)) {
    result.value = *whole * factor;
  } else {
    result.value = as_double(reading.value) * static_cast<double>(factor);
  }
  return result;
}

// GPM tells percent as percent and transfers in MiB a second (nvml.h, nvmlGpmMetricId_t).
Reading gpm_value(const Field& field, const Reading& reading) {
  return field.unit == Unit::bytes_per_second ? scaled(reading, kib * kib) : reading;
}

void put_gpm(Readings& out, const Fields& fields, const std::vector<Reading>& rates,
             device::Target target) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    put(out, *fields[i], gpm_value(*fields[i], rates.at(i)), target);
  }
}

void put_no_gpm(const Card& card, const Fields& fields, Readings& out) {
  const bool before_hopper = card.architecture < abi::Architecture::hopper;
  const Reading none = Reading::none(before_hopper ? Reason::no_source : Reason::not_supported,
                                     card.clock().monotonic());
  for (const Field* field : fields) {
    put(out, *field, none);
    for (std::size_t i = 0; i < card.mig_devices.size(); ++i) {
      put(out, *field, none, mig_target(i));
    }
  }
}

}  // namespace

Reading value_of(const Called& called, const abi::FieldValue& value) {
  if (!called.ok()) return called.none();
  if (value.status != abi::Return::success) {
    // An id that this driver doesn't know is an argument that NVML calls invalid.
    const bool unknown = value.status == abi::Return::invalid_argument;
    return called.none(unknown ? Reason::not_supported : reason_of(value.status));
  }
  switch (value.type) {
    case abi::ValueType::double_value: return called.value(value.value.as_double);
    case abi::ValueType::unsigned_int:
      return called.value(std::int64_t{value.value.as_unsigned_int});
    case abi::ValueType::unsigned_long:
      return called.value(static_cast<std::int64_t>(value.value.as_unsigned_long));
    case abi::ValueType::unsigned_long_long:
      return called.value(static_cast<std::int64_t>(value.value.as_unsigned_long_long));
    case abi::ValueType::signed_long_long:
      return called.value(std::int64_t{value.value.as_signed_long_long});
    case abi::ValueType::signed_int: return called.value(std::int64_t{value.value.as_signed_int});
    case abi::ValueType::unsigned_short:
      return called.value(std::int64_t{value.value.as_unsigned_short});
  }
  // Success with the type left as it was: the driver wrote nothing (580.159.04, ids 187-190).
  return called.none(Reason::not_supported);
}

void read_field_values(Card& card, const Fields& fields, Readings& out) {
  std::vector<abi::FieldValue> values;
  values.reserve(fields.size());
  for (const Field* field : fields) {
    abi::FieldValue value{};
    value.field_id = field->argument;
    value.scope_id = use_of(field->argument).scope;
    value.type = abi::unset_type;
    value.status = abi::Return::no_data;
    values.push_back(value);
  }
  const Called called = timed(card.clock(), card.nvml().nvmlDeviceGetFieldValues, card.device,
                              static_cast<int>(values.size()), values.data());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Reading reading = value_of(called, values[i]);
    put(out, *fields[i], scaled(reading, use_of(fields[i]->argument).factor));
  }
}

void read_gpm(Card& card, const Fields& fields, Readings& out) {
  if (!card.info.gpm) return put_no_gpm(card, fields, out);
  std::vector<std::uint32_t> metrics;
  metrics.reserve(fields.size());
  for (const Field* field : fields) metrics.push_back(field->argument);
  put_gpm(out, fields, card.gpm.read_gpu(metrics), {});
  // Compute instances of one GPU instance share its counters: sampled once, told for each.
  std::map<std::uint32_t, std::vector<Reading>> sampled;
  for (std::size_t i = 0; i < card.info.migs.size(); ++i) {
    const device::MigInfo& mig = card.info.migs[i];
    const auto [at, is_new] = sampled.try_emplace(mig.gpu_instance);
    if (is_new) at->second = card.gpm.read_instance(mig.gpu_instance, mig.uuid, metrics);
    put_gpm(out, fields, at->second, mig_target(i));
  }
}

}  // namespace stoker::nvml
