// Catalogue: NVML's numbers by the words that product files use for them. The numbers are the ABI's
// (device/nvml/enums.h states them again for the driver's side; products_test.cpp compares).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::catalog {

struct NamedNumber {
  std::string_view word;
  std::int64_t number;
};

inline constexpr auto brands = std::to_array<NamedNumber>(
    {{"tesla", 2}, {"quadro_rtx", 12}, {"nvidia_rtx", 13}, {"nvidia", 14}});

inline constexpr auto architectures = std::to_array<NamedNumber>(
    {{"volta", 5}, {"turing", 6}, {"ampere", 7}, {"ada", 8}, {"hopper", 9}, {"blackwell", 10}});

inline constexpr auto memory_locations = std::to_array<NamedNumber>({{"l1_cache", 0},
                                                                     {"l2_cache", 1},
                                                                     {"device_memory", 2},
                                                                     {"register_file", 3},
                                                                     {"texture_memory", 4},
                                                                     {"texture_shm", 5},
                                                                     {"cbu", 6},
                                                                     {"sram", 7}});

inline constexpr auto value_types = std::to_array<NamedNumber>(
    {{"double", 0}, {"u32", 1}, {"ulong", 2}, {"u64", 3}, {"i64", 4}, {"i32", 5}, {"u16", 6}});

// NVML's return codes.
inline constexpr auto return_codes = std::to_array<NamedNumber>({{"success", 0},
                                                                 {"uninitialized", 1},
                                                                 {"invalid_argument", 2},
                                                                 {"not_supported", 3},
                                                                 {"no_permission", 4},
                                                                 {"not_found", 6},
                                                                 {"insufficient_size", 7},
                                                                 {"driver_not_loaded", 9},
                                                                 {"timeout", 10},
                                                                 {"irq_issue", 11},
                                                                 {"function_not_found", 13},
                                                                 {"corrupted_inforom", 14},
                                                                 {"gpu_is_lost", 15},
                                                                 {"reset_required", 16},
                                                                 {"operating_system", 17},
                                                                 {"lib_rm_version_mismatch", 18},
                                                                 {"in_use", 19},
                                                                 {"memory", 20},
                                                                 {"no_data", 21},
                                                                 {"insufficient_resources", 23},
                                                                 {"not_ready", 27},
                                                                 {"gpu_not_found", 28},
                                                                 {"invalid_state", 29},
                                                                 {"unknown", 999}});

template <std::size_t size>
std::optional<std::int64_t> number_of(const std::array<NamedNumber, size>& table,
                                      std::string_view word) {
  for (const auto& row : table) {
    if (row.word == word) return row.number;
  }
  return std::nullopt;
}

template <std::size_t size>
std::vector<std::string> words_of(const std::array<NamedNumber, size>& table) {
  std::vector<std::string> words;
  words.reserve(size);
  for (const auto& row : table) words.emplace_back(row.word);
  return words;
}

}  // namespace stoker::catalog
