// Device stage: getters whose NVML function answers one number of the device.
#pragma once

#include "device/nvml/card.h"

namespace stoker::nvml {

template <typename Member>
struct AnswerOf;
template <typename Answer>
struct AnswerOf<abi::Return (*abi::Functions::*)(abi::Device, Answer*)> {
  using Type = Answer;
};

// Calls `function` once; `convert` makes the field's value of the answer.
template <auto function, typename Convert>
void read_scalar(Card& card, const Fields& fields, Readings& out, Convert convert) {
  typename AnswerOf<decltype(function)>::Type answer{};
  const Called called = timed(card.clock(), card.nvml().*function, card.device, &answer);
  for (const Field* field : fields) {
    put(out, *field, called.ok() ? called.value(convert(answer)) : called.none());
  }
}

template <auto function>
void read_whole(Card& card, const Fields& fields, Readings& out) {
  read_scalar<function>(card, fields, out,
                        [](auto answer) { return static_cast<std::int64_t>(answer); });
}

// NVML counts power in mW and energy in mJ.
template <auto function>
void read_thousandths(Card& card, const Fields& fields, Readings& out) {
  read_scalar<function>(card, fields, out,
                        [](auto answer) { return static_cast<double>(answer) / 1000.0; });
}

// Functions that answer what is now and what comes with the next reset.
template <auto function, typename Mode>
void read_current_mode(Card& card, const Fields& fields, Readings& out) {
  Mode current{};
  Mode pending{};
  const Called called = timed(card.clock(), card.nvml().*function, card.device, &current, &pending);
  for (const Field* field : fields) {
    put(out, *field,
        called.ok() ? called.value(static_cast<std::int64_t>(current)) : called.none());
  }
}

}  // namespace stoker::nvml
