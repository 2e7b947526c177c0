// Analyzer stage: how much memory there is, and how much of it /dev/shm may take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "doctor/exam.h"

namespace stoker::doctor {

struct MemoryInfo {
  std::uint64_t total_bytes = 0;
  std::uint64_t huge_pages = 0;
  std::uint64_t huge_pages_free = 0;
  std::uint64_t huge_page_bytes = 0;
};
// Of /proc/meminfo.
std::optional<MemoryInfo> read_meminfo(Exam& exam);

// What may be in /dev/shm at most; nullopt: nothing is mounted there, or not known. From the option `size=` in
// /proc/self/mounts, else half of the memory (Documentation/filesystems/tmpfs.rst).
struct SharedMemory {
  std::uint64_t bytes = 0;
  std::string mount;  // the line of /proc/self/mounts
};
std::optional<SharedMemory> read_shared_memory(Exam& exam);

// "64 MiB", "1.5 GiB".
std::string size_text(std::uint64_t bytes);

}  // namespace stoker::doctor
