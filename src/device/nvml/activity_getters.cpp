// Device stage: clocks, heat, use and memory.
#include "device/nvml/getters.h"

namespace stoker::nvml {
namespace {

// On a GPU in MIG mode the driver tells no utilisation, neither of the whole nor of its parts
// (nvml-api, nvmlDeviceGetUtilizationRates).
void put_percent(const Card& card, const Field& field, const Called& called, unsigned percent,
                 Readings& out) {
  put(out, field, called.ok() ? called.value(whole(percent)) : called.none());
  for (std::size_t i = 0; i < card.mig_devices.size(); ++i) {
    put(out, field, called.none(Reason::not_supported), mig_target(i));
  }
}

// Argument: 0 total, 1 free, 2 used, 3 reserved.
Reading memory_part(const Called& called, const abi::MemoryV2& memory, std::uint32_t part) {
  switch (part) {
    case 0: return called.value(whole(memory.total_bytes));
    case 1: return called.value(whole(memory.free_bytes));
    case 2: return called.value(whole(memory.used_bytes));
    default: return called.value(whole(memory.reserved_bytes));
  }
}

bool holds_together(const abi::MemoryV2& memory) {
  return memory.free_bytes <= memory.total_bytes && memory.used_bytes <= memory.total_bytes &&
         memory.reserved_bytes <= memory.total_bytes;
}

struct MemoryAnswer {
  Called called;
  abi::MemoryV2 memory{};
  bool reserved_known = true;
};

// Before 510 there is only the first version: its `used` holds what the driver reserves, too, and
// nothing says how much that is.
MemoryAnswer ask_memory(const Card& card, abi::Device device) {
  MemoryAnswer answer;
  answer.memory.version = abi::version_tag<abi::MemoryV2>(2);
  answer.called =
      timed(card.clock(), card.nvml().nvmlDeviceGetMemoryInfo_v2, device, &answer.memory);
  if (reason_of(answer.called.code) != Reason::not_supported) return answer;
  abi::Memory first{};
  const Nanoseconds before = answer.called.took;
  answer.called = timed(card.clock(), card.nvml().nvmlDeviceGetMemoryInfo, device, &first);
  answer.called.took += before;
  answer.memory.total_bytes = first.total_bytes;
  answer.memory.free_bytes = first.free_bytes;
  answer.memory.used_bytes = first.used_bytes;
  answer.reserved_known = false;
  return answer;
}

void read_memory_of(const Card& card, abi::Device device, device::Target target,
                    const Fields& fields, Readings& out) {
  const MemoryAnswer answer = ask_memory(card, device);
  for (const Field* field : fields) {
    Reading reading = answer.called.none();
    if (answer.called.ok()) {
      const bool known = answer.reserved_known || field->argument != 3;
      reading = !known ? answer.called.none(Reason::not_supported)
                : holds_together(answer.memory)
                    ? memory_part(answer.called, answer.memory, field->argument)
                    : answer.called.none(Reason::invalid);
    }
    put(out, *field, reading, target);
  }
}

}  // namespace

void read_clocks(Card& card, const Fields& fields, Readings& out) {
  for (const Field* field : fields) {
    unsigned mhz = 0;
    const Called called = timed(card.clock(), card.nvml().nvmlDeviceGetClockInfo, card.device,
                                static_cast<abi::ClockType>(field->argument), &mhz);
    put(out, *field, called.ok() ? called.value(whole(mhz)) : called.none());
  }
}

// One mask of two names: Throttle to header 12.1, Event since; the same bits.
void read_throttle_reasons(Card& card, const Fields& fields, Readings& out) {
  const abi::Functions& nvml = card.nvml();
  std::uint64_t mask = 0;
  Called called =
      timed(card.clock(), nvml.nvmlDeviceGetCurrentClocksEventReasons, card.device, &mask);
  if (called.code == abi::Return::function_not_found) {
    called =
        timed(card.clock(), nvml.nvmlDeviceGetCurrentClocksThrottleReasons, card.device, &mask);
  }
  for (const Field* field : fields) {
    put(out, *field, called.ok() ? called.value(whole(mask)) : called.none());
  }
}

void read_temperature(Card& card, const Fields& fields, Readings& out) {
  unsigned celsius = 0;
  const Called called = timed(card.clock(), card.nvml().nvmlDeviceGetTemperature, card.device,
                              abi::TemperatureSensor::gpu, &celsius);
  // A signed number in an unsigned's place: below zero is cold, not four billion degrees.
  const std::int64_t value = static_cast<std::int32_t>(celsius);
  for (const Field* field : fields) {
    put(out, *field, called.ok() ? called.value(value) : called.none());
  }
}

void read_thermal_margin(Card& card, const Fields& fields, Readings& out) {
  abi::MarginTemperatureV1 margin{abi::version_tag<abi::MarginTemperatureV1>(1), 0};
  const Called called =
      timed(card.clock(), card.nvml().nvmlDeviceGetMarginTemperature, card.device, &margin);
  for (const Field* field : fields) {
    put(out, *field, called.ok() ? called.value(std::int64_t{margin.celsius}) : called.none());
  }
}

void read_performance_state(Card& card, const Fields& fields, Readings& out) {
  abi::PState state = abi::PState::unknown;
  const Called called =
      timed(card.clock(), card.nvml().nvmlDeviceGetPerformanceState, card.device, &state);
  for (const Field* field : fields) {
    Reading reading = called.none();
    if (called.ok()) {
      // 32 is NVML's own "unknown".
      reading = state <= abi::PState::p15 ? called.value(static_cast<std::int64_t>(state))
                                          : called.none(Reason::not_supported);
    }
    put(out, *field, reading);
  }
}

void read_utilization(Card& card, const Fields& fields, Readings& out) {
  abi::Utilization rates{};
  const Called called =
      timed(card.clock(), card.nvml().nvmlDeviceGetUtilizationRates, card.device, &rates);
  for (const Field* field : fields) {
    put_percent(card, *field, called,
                field->argument == 0 ? rates.gpu_percent : rates.memory_percent, out);
  }
}

void read_encoder(Card& card, const Fields& fields, Readings& out) {
  unsigned percent = 0;
  unsigned period_us = 0;
  const Called called = timed(card.clock(), card.nvml().nvmlDeviceGetEncoderUtilization,
                              card.device, &percent, &period_us);
  for (const Field* field : fields) put_percent(card, *field, called, percent, out);
}

void read_decoder(Card& card, const Fields& fields, Readings& out) {
  unsigned percent = 0;
  unsigned period_us = 0;
  const Called called = timed(card.clock(), card.nvml().nvmlDeviceGetDecoderUtilization,
                              card.device, &percent, &period_us);
  for (const Field* field : fields) put_percent(card, *field, called, percent, out);
}

void read_memory(Card& card, const Fields& fields, Readings& out) {
  read_memory_of(card, card.device, {}, fields, out);
  for (std::size_t i = 0; i < card.mig_devices.size(); ++i) {
    read_memory_of(card, card.mig_devices[i], mig_target(i), fields, out);
  }
}

void read_bar1(Card& card, const Fields& fields, Readings& out) {
  abi::Bar1Memory memory{};
  const Called called =
      timed(card.clock(), card.nvml().nvmlDeviceGetBAR1MemoryInfo, card.device, &memory);
  const bool sane = memory.used_bytes <= memory.total_bytes;
  for (const Field* field : fields) {
    put(out, *field,
        !called.ok() ? called.none()
        : sane       ? called.value(whole(memory.used_bytes))
                     : called.none(Reason::invalid));
  }
}

}  // namespace stoker::nvml
