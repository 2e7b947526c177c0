// Analyzer stage: the bits of PCI's configuration space that decide which way a transfer between two cards takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/exam.h"

namespace stoker::doctor {

// The control register of Access Control Services in a `config` file of sysfs (PCI Express base specification,
// extended capability 0x000D); nullopt: the function has none. `config` must be longer than 256 bytes.
std::optional<unsigned> acs_control(std::string_view config);

// Bits 2 and 3, P2P request and completion redirect: what makes peers talk by way of the root complex.
inline constexpr unsigned acs_redirects = 0x4U | 0x8U;

// Addresses of the bridges above a function, root port first.
std::vector<std::string> bridges_above(Exam& exam, const std::string& folder);

// The machine's processors say that a hypervisor runs it (flag of /proc/cpuinfo).
bool is_virtual_machine(Exam& exam);

}  // namespace stoker::doctor
