// Any bytes as what a RAS port answers in text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "nccl/readers.h"
#include "nccl/verdict.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace nccl = stoker::nccl;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  nccl::Facts facts;
  facts.files.push_back({.name = "ras"});
  nccl::RasTextReader reader(facts);
  nccl::Place place;
  reader.read("SERVER PROTOCOL 2", place);
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    ++place.line;
    reader.read(line, place);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  reader.finish();
  if (nccl::judge(facts).empty()) std::abort();
  return 0;
}
