// Simulated library: the one gate that every exported function goes through. In this order: is there
// a session; does this driver have the function; are arguments and handle good; what do the faults
// order (waits, then a code); is the GPU there; does the product answer; then the function's body.
//
// Bodies look at the state inside StateFile::read, so they may run twice: they write results only.
#pragma once

#include <string_view>

#include "device/sim/library/handles.h"
#include "device/sim/library/session.h"
#include "device/sim/load_model.h"

namespace stoker::sim {

/// What a body of a call on no GPU sees.
struct SystemView {
  const Session& session;
  const State& state;
};

/// What a body of a call on a GPU sees.
struct View {
  const Session& session;
  const State& state;
  const Gpu& gpu;
  Place place;
  [[nodiscard]] const GpuInstance& instance() const { return gpu.mig.instances[place.instance]; }
  [[nodiscard]] const ComputeInstance& compute() const { return instance().compute[place.compute]; }
  [[nodiscard]] std::uint64_t now_ns() const { return monotonic_ns(state.clock); }
  [[nodiscard]] std::uint64_t wall_us() const { return wall_ns(state.clock) / 1000; }
  [[nodiscard]] Activity activity() const { return sim::activity(gpu, now_ns()); }
  [[nodiscard]] Totals totals() const { return sim::totals(gpu, now_ns()); }
};

/// Which handles a function takes: of whole GPUs only (a MIG device is NOT_SUPPORTED), or of both.
enum class Takes { gpu, gpu_or_mig, mig };

using SystemBody = FunctionRef<Return(const SystemView&)>;
using Body = FunctionRef<Return(const View&)>;

/// A call on no GPU. `arguments_good` false is INVALID_ARGUMENT.
[[nodiscard]] Return on_system(Function function, bool arguments_good, SystemBody body);

[[nodiscard]] Return on_gpu(Function function, Device device, bool arguments_good, Body body,
                            Takes takes = Takes::gpu);

/// What no simulated card has.
[[nodiscard]] inline Return not_supported(Function function, Device device, bool arguments_good) {
  return on_gpu(function, device, arguments_good,
                [](const View&) { return Return::not_supported; });
}

[[nodiscard]] Return on_instance(Function function, GpuInstanceHandle handle, bool arguments_good,
                                 Body body);
[[nodiscard]] Return on_instance(Function function, ComputeInstanceHandle handle,
                                 bool arguments_good, Body body);

/// A call that opens a GPU by looking it up: `find` tells its place, and the faults of that GPU hold
/// for this call, too; where it tells no_row, `missing` is the answer.
[[nodiscard]] Return on_lookup(Function function, bool arguments_good, Return missing,
                               FunctionRef<Place(const SystemView&)> find, Device* device);

/// A call that changes the machine: needs root (unless the state lets anybody), then `change` runs
/// alone. It must leave the state as it was unless it answers success.
struct ChangeView {
  State& state;
  Gpu& gpu;
  Place place;
  [[nodiscard]] std::uint64_t now_ns() const { return monotonic_ns(state.clock); }
};
using Change = FunctionRef<Return(const ChangeView&)>;
[[nodiscard]] Return change_gpu(Function function, Device device, bool arguments_good,
                                Change change, Takes takes = Takes::gpu);
[[nodiscard]] Return change_instance(Function function, GpuInstanceHandle handle,
                                     bool arguments_good, Change change);
[[nodiscard]] Return change_instance(Function function, ComputeInstanceHandle handle,
                                     bool arguments_good, Change change);

/// For init, which has no session yet: sits through the faults of `function` on `gpu`, and returns
/// the code that they order (success where none).
[[nodiscard]] Return wait_before_session(const StateFile& file, const Function& function,
                                         std::int32_t gpu);

/// Sits through `duration_ns` as the captured cost of a part of a call, where costs are on.
void pay(std::uint64_t duration_ns);

/// One value out of a view, for the many functions that tell just that.
template <typename Out, typename Read>
[[nodiscard]] Return tell(Function function, Device device, Out* out, Read read,
                          Takes takes = Takes::gpu) {
  return on_gpu(
      function, device, out != nullptr,
      [&](const View& view) {
        *out = static_cast<Out>(read(view));
        return Return::success;
      },
      takes);
}

/// The same for a pair.
template <typename Out, typename Read>
[[nodiscard]] Return tell_two(Function function, Device device, Out* first, Out* second,
                              Read read) {
  return on_gpu(function, device, first != nullptr && second != nullptr, [&](const View& view) {
    const auto [one, two] = read(view);
    *first = static_cast<Out>(one);
    *second = static_cast<Out>(two);
    return Return::success;
  });
}

/// Copies text with its zero byte; INSUFFICIENT_SIZE where it does not fit.
[[nodiscard]] Return copy_text(std::string_view text, char* out, unsigned length);
/// A text of the state into the caller's buffer; an empty one is NOT_SUPPORTED.
[[nodiscard]] Return tell_text(Function function, Device device, char* out, unsigned length,
                               FunctionRef<std::string_view(const View&)> read);
/// The text of a field of fixed size.
template <std::size_t size>
[[nodiscard]] std::string_view text_of(const char (&field)[size]) {
  const std::string_view all(field, size);
  return all.substr(0, all.find('\0'));
}

/// NVML's arrays: `count` holds the room and comes back as the number; too little room is
/// INSUFFICIENT_SIZE with the number that is needed. Made before the gate, since bodies may run twice.
template <typename Entry>
class ArrayOut {
 public:
  ArrayOut(Entry* entries, unsigned* count)
      : entries_(entries), count_(count), room_(count == nullptr ? 0 : *count) {}
  [[nodiscard]] bool good() const {
    return count_ != nullptr && (room_ == 0 || entries_ != nullptr);
  }
  void clear() { size_ = 0; }
  void add(const Entry& entry) {
    if (size_ < room_) entries_[size_] = entry;
    ++size_;
  }
  [[nodiscard]] Return finish() {
    *count_ = size_;
    return size_ > room_ ? Return::insufficient_size : Return::success;
  }

 private:
  Entry* entries_;
  unsigned* count_;
  unsigned room_;
  unsigned size_ = 0;
};

}  // namespace stoker::sim
