// Simulated node: faults of calls. What a call then does is the library's (device/sim/library/waits.cpp).
#include <fmt/format.h>

#include <charconv>

#include "base/closest.h"
#include "base/text.h"
#include "catalog/products/words.h"
#include "device/simnode/faults.h"
#include "device/simnode/function_names.h"
#include "device/simnode/text_field.h"

namespace stoker::simnode {
namespace {

// Empty means every function.
Result<std::uint32_t> function_of(const std::string& call) {
  if (call.empty()) return sim::every_function;
  std::vector<std::string> names;
  for (const auto name : function_names) {
    if (name == call) return sim::name_hash(name);
    names.emplace_back(name);
  }
  auto near = closest_first(call, std::move(names));
  near.resize(3);
  return fail(ErrorCode::invalid_input,
              "--call: NVML has no function '" + call + "'; the nearest are " + listed(near));
}

struct Suffix {
  std::string_view word;
  std::uint64_t nanoseconds;
};
constexpr auto suffixes = std::to_array<Suffix>(
    {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}});

Result<std::uint64_t> delay_of(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const auto& suffix : suffixes) {
    constexpr std::uint64_t day_ns = 86'400'000'000'000;
    if (code == std::errc{} && unit == suffix.word && number <= day_ns / suffix.nanoseconds) {
      return number * suffix.nanoseconds;
    }
  }
  return fail(ErrorCode::invalid_input,
              "--delay has to be a time up to a day like 2s, 150ms or 5m, not '" + text + "'");
}

// "GPU_IS_LOST", "NVML_ERROR_GPU_IS_LOST", "gpu_is_lost" or 15.
Result<std::int32_t> code_of(std::string text, const std::string& what) {
  const auto number = whole_number<std::int32_t>(text);
  if (number && *number > 0 && *number < 1000) return *number;
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  constexpr std::string_view vendor = "nvml_error_";
  if (text.starts_with(vendor)) text.erase(0, vendor.size());
  const auto found = catalog::number_of(catalog::return_codes, text);
  if (found && *found != 0) return static_cast<std::int32_t>(*found);
  auto words = catalog::words_of(catalog::return_codes);
  words.erase(words.begin());  // success fails nothing
  return fail(ErrorCode::invalid_input, what + " has to be a number of nvmlReturn or one of " +
                                            listed(closest_first(text, std::move(words))) +
                                            ", not '" + text + "'");
}

std::string calls(const Change& change) {
  const std::string& call = change.request.call;
  return (call.empty() ? "every call" : call) + " on " + gpu_words(change.gpus);
}

}  // namespace

Result<std::int32_t> parse_return_code(const std::string& text, const std::string& what) {
  return code_of(text, what);
}

Result<std::string> apply_hang(Change& change) {
  const auto function = function_of(change.request.call);
  if (!function) return fail(function.error());
  const sim::Fault fault{.function = *function, .code = sim::keep_code, .never_returns = 1};
  if (auto set = set_faults(change, fault); !set) return fail(set.error());
  return calls(change) + " never returns from now on";
}

Result<std::string> apply_slow(Change& change) {
  const auto function = function_of(change.request.call);
  if (!function) return fail(function.error());
  const auto delay = delay_of(change.request.delay);
  if (!delay) return fail(delay.error());
  const sim::Fault fault{.function = *function, .code = sim::keep_code, .delay_ns = *delay};
  if (auto set = set_faults(change, fault); !set) return fail(set.error());
  return calls(change) + " takes " + change.request.delay + " more from now on";
}

Result<std::string> apply_fail(Change& change) {
  const auto function = function_of(change.request.call);
  if (!function) return fail(function.error());
  const auto code = code_of(change.request.return_code, "--return");
  if (!code) return fail(code.error());
  const sim::Fault fault{.function = *function, .code = *code};
  if (auto set = set_faults(change, fault); !set) return fail(set.error());
  return fmt::format("{} answers {} from now on", calls(change), *code);
}

Result<std::string> apply_block_on(Change& change) {
  const auto function = function_of(change.request.call);
  if (!function) return fail(function.error());
  const std::string& path = change.request.args[0];
  sim::Fault fault{.function = *function, .code = sim::keep_code};
  if (!path.starts_with('/') || path.size() >= sizeof fault.read_path) {
    return fail(ErrorCode::invalid_input,
                fmt::format("block-on wants an absolute path of at most {} letters, not '{}'",
                            sizeof fault.read_path - 1, path));
  }
  put(fault.read_path, path);
  if (auto set = set_faults(change, fault); !set) return fail(set.error());
  return calls(change) + " first reads " + path + " from now on";
}

}  // namespace stoker::simnode
