// Any bytes as a pickle, as JSON, and as a dump of the flight recorder or an answer of RAS: read or refused. The dump is
// that of two ranks, whose sends and receives are set against each other.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "nccl/dumps.h"
#include "nccl/own_job.h"
#include "nccl/verdict.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace nccl = stoker::nccl;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  nccl::Facts facts;
  facts.files.push_back({.name = "trace_rank_0"});
  facts.files.push_back({.name = "trace_rank_1"});
  for (const auto& tree : {nccl::read_pickle(bytes), nccl::read_json(bytes)}) {
    if (!tree) {
      if (tree.error().message().empty()) std::abort();
      continue;
    }
    (void)nccl::add_data(*tree, 0, 1, facts);
    (void)nccl::add_data(*tree, 1, 1, facts);
    (void)nccl::add_ras(*tree, 0, 1, facts);
  }
  if (nccl::judge(facts).empty()) std::abort();
  const auto own = nccl::judge_own(facts, {.processes = {{{669}, "a"}}, .files = {0}});
  if (own.verdict && nccl::lines_of(*own.verdict).empty()) std::abort();
  return 0;
}
