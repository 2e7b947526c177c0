// Simulated library: an NVML function as the gate knows it, looked up in functions.def at compile
// time, and a light reference to the body of one.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "device/nvml/exports.h"
#include "device/sim/state.h"

namespace stoker::sim {

// The ABI that this folder implements.
using namespace nvml::abi;                         // NOLINT(google-build-using-namespace)
using GpuInstanceHandle = nvml::abi::GpuInstance;  // the state's records have these names, too
using ComputeInstanceHandle = nvml::abi::ComputeInstance;

struct Function {
  std::uint32_t hash;  // name_hash of the symbol
  std::uint32_t row;   // of function_rows()
};

/// `fn(__func__)` inside an exported function. A symbol that functions.def lacks doesn't compile.
consteval Function fn(std::string_view symbol) {
  for (std::uint32_t row = 0; row < std::size(function_row_array); ++row) {
    if (function_row_array[row].symbol == symbol) return {name_hash(symbol), row};
  }
  throw "no such row in functions.def";
}

template <typename Signature>
class FunctionRef;

/// A reference to something callable, for as long as the call that it is passed to.
template <typename Result, typename... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <typename Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef>)
  FunctionRef(Callable&& callable)  // NOLINT(google-explicit-constructor)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<Callable>*>(object))(
              std::forward<Arguments>(arguments)...);
        }) {}
  Result operator()(Arguments... arguments) const {
    return call_(object_, std::forward<Arguments>(arguments)...);
  }

 private:
  void* object_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace stoker::sim
