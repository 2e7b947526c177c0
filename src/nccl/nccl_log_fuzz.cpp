// Any bytes as logs of a job, as one file or cut into two: read to the end, and judged without a word that is none.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "nccl/log_reader.h"
#include "nccl/report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace nccl = stoker::nccl;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Its length decides, so that each input is read once and written once.
  const std::size_t cut = size % 2 == 0 ? size : size / 2;
  const bool as_json = size % 4 < 2;
  nccl::Facts facts;
  for (const auto piece : {text.substr(0, cut), text.substr(cut)}) {
    nccl::LogReader reader(facts, piece.size() == size ? "whole" : "part");
    for (std::size_t at = 0; at < piece.size(); at += 100) reader.add(piece.substr(at, 100));
    reader.finish();
  }
  const auto verdicts = nccl::judge(facts);
  if (verdicts.empty()) std::abort();
  for (const auto& verdict : verdicts) {
    if (verdict.summary.empty()) std::abort();
    if (verdict.verdict == nccl::Class::unknown && verdict.confidence != nccl::Confidence::unknown)
      std::abort();
  }
  const auto written = as_json ? nccl::verdicts_json(verdicts) : nccl::verdicts_text(verdicts, {});
  if (written.empty()) std::abort();
  return 0;
}
