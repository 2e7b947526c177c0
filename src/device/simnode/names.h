// Simulated node: UUIDs and serial numbers. They depend on the machine's name and the index alone, so
// that the same node is made again and again, and they are plainly nobody's: mostly zeroes.
#pragma once

#include <string>
#include <string_view>

namespace stoker::simnode {

std::string gpu_uuid(std::string_view machine,
                     unsigned index);  // "GPU-51000000-....-4000-8000-..."
std::string gpu_serial(std::string_view machine, unsigned index);  // 13 digits, as the cards have

}  // namespace stoker::simnode
