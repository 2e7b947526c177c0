// Device stage: Xids, memory errors and their repair.
#include <array>

#include "device/nvml/getters.h"

namespace stoker::nvml {
namespace {

Reading read_pending_retirement(const Card& card) {
  abi::EnableState pending{};
  const Called called = timed(card.clock(), card.nvml().nvmlDeviceGetRetiredPagesPendingStatus,
                              card.device, &pending);
  return called.ok() ? called.value(static_cast<std::int64_t>(pending)) : called.none();
}

// With no room for addresses the driver answers the count, and "insufficient size" unless it is 0.
Reading read_retired_count(const Card& card, abi::PageRetirementCause cause) {
  unsigned count = 0;
  const Called called = timed(card.clock(), card.nvml().nvmlDeviceGetRetiredPages, card.device,
                              cause, &count, nullptr);
  const bool told = called.ok() || called.code == abi::Return::insufficient_size;
  return told ? called.value(whole(count)) : called.none();
}

}  // namespace

void read_xid(Card& card, const Fields& fields, Readings& out) {
  for (const Field* field : fields) put(out, *field, card.session->xids.last(*card.xid));
}

// Argument: bit 0 uncorrected, bit 1 aggregate.
void read_ecc(Card& card, const Fields& fields, Readings& out) {
  for (const Field* field : fields) {
    std::uint64_t count = 0;
    const Called called = timed(card.clock(), card.nvml().nvmlDeviceGetTotalEccErrors, card.device,
                                static_cast<abi::MemoryErrorType>(field->argument & 1U),
                                static_cast<abi::EccCounterType>(field->argument >> 1U), &count);
    put(out, *field, called.ok() ? called.value(whole(count)) : called.none());
  }
}

// Argument: a cause (0, 1), or 2: does one wait?
void read_retired_pages(Card& card, const Fields& fields, Readings& out) {
  for (const Field* field : fields) {
    put(out, *field,
        field->argument == 2
            ? read_pending_retirement(card)
            : read_retired_count(card, static_cast<abi::PageRetirementCause>(field->argument)));
  }
}

// Argument: 0 correctable, 1 uncorrectable, 2 pending, 3 failed.
void read_remapped_rows(Card& card, const Fields& fields, Readings& out) {
  std::array<unsigned, 4> answer{};
  const Called called = timed(card.clock(), card.nvml().nvmlDeviceGetRemappedRows, card.device,
                              answer.data(), &answer[1], &answer[2], &answer[3]);
  for (const Field* field : fields) {
    put(out, *field, called.ok() ? called.value(whole(answer.at(field->argument))) : called.none());
  }
}

// The driver reads it from the card's flash and compares its checksums.
void read_inforom(Card& card, const Fields& fields, Readings& out) {
  const Called called = timed(card.clock(), card.nvml().nvmlDeviceValidateInforom, card.device);
  const bool corrupted = called.code == abi::Return::corrupted_inforom;
  for (const Field* field : fields) {
    put(out, *field,
        called.ok() || corrupted ? called.value(std::int64_t{!corrupted}) : called.none());
  }
}

}  // namespace stoker::nvml
