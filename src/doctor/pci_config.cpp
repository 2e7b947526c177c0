#include "doctor/pci_config.h"

#include <algorithm>

#include "model/pci_address.h"

namespace stoker::doctor {
namespace {

constexpr std::size_t extended_start = 0x100;
constexpr unsigned acs_capability = 0x000D;

unsigned byte_at(std::string_view config, std::size_t at) {
  return static_cast<unsigned char>(config[at]);
}

}  // namespace

std::optional<unsigned> acs_control(std::string_view config) {
  std::size_t at = extended_start;
  // 4096 bytes hold no more than so many capabilities; a list that leads back to itself ends here.
  constexpr int most = 1024;
  for (int n = 0; n < most && at >= extended_start && at + 8 <= config.size(); ++n) {
    const unsigned id = byte_at(config, at) | byte_at(config, at + 1) << 8U;
    const unsigned next = (byte_at(config, at + 2) >> 4U) | byte_at(config, at + 3) << 4U;
    if (id == acs_capability) return byte_at(config, at + 6) | byte_at(config, at + 7) << 8U;
    if (next == 0) break;
    at = next;
  }
  return std::nullopt;
}

std::vector<std::string> bridges_above(Exam& exam, const std::string& folder) {
  // ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0
  std::vector<std::string> bridges;
  const auto link = exam.link(folder);
  std::string_view rest = link ? std::string_view(*link) : std::string_view();
  while (!rest.empty()) {
    const auto part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (!rest.empty() && PciAddress::parse(part)) bridges.emplace_back(part);
  }
  return bridges;
}

bool is_virtual_machine(Exam& exam) {
  constexpr std::size_t largest = 64 << 20;  // a machine of 1,000 threads has some 2 MiB of it
  const auto text = exam.read("/proc/cpuinfo", largest);
  if (!text) return false;
  const auto flags = text->find("\nflags");
  return flags != std::string::npos &&
         text->substr(flags + 1, text->find('\n', flags + 1) - flags).find(" hypervisor") !=
             std::string::npos;
}

}  // namespace stoker::doctor
