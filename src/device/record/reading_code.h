// Device stage: how one reading stands in a recording: by what differs from the last one of its series
// and from the one before it in its batch. Nothing is lost: value, reason, both times to the bit.
#pragma once

#include "device/record/bytes.h"
#include "device/record/names.h"

namespace stoker::device::record {

// What a reading is written against.
struct Before {
  // The reading before it in the batch; for the first: taken when the batch was told, by no call.
  MonotonicTime taken_at;
  Nanoseconds took{0};
};

// `last` is the last reading of the same series, and becomes this one; so does `before`.
void write_reading(Out& out, NamesWritten& names, const Reading& reading, Reading& last,
                   Before& before);
Reading read_reading(In& in, const NamesRead& names, Reading& last, Before& before);

}  // namespace stoker::device::record
