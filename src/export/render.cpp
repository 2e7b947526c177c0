#include "export/render.h"

#include "export/dcgm.h"
#include "export/own.h"

namespace stoker::exporting {

std::string render(const store::Snapshot& snapshot, const std::vector<Finding>& findings,
                   const RenderOptions& options, Format format) {
  constexpr std::size_t bytes_per_gpu = 24 * 1024;
  constexpr std::size_t bytes_per_node = 32 * 1024;
  std::string text;
  text.reserve(bytes_per_node + snapshot.gpus.size() * bytes_per_gpu);
  Exposition out(text, format);
  write_dcgm(out, snapshot, options);
  write_own(out, snapshot, findings, options);
  out.finish();
  return text;
}

}  // namespace stoker::exporting
