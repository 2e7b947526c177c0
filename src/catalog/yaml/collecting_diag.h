// Catalogue: how libfyaml is to tell of mistakes: keep them, and print nothing. Private to yaml.
#pragma once

#include <libfyaml.h>

#include <memory>

namespace stoker::yaml {

struct DiagDelete {
  void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
};

// nullptr: libfyaml has no memory.
inline std::unique_ptr<fy_diag, DiagDelete> collecting_diag() {
  fy_diag_cfg quiet{};
  fy_diag_cfg_default(&quiet);
  quiet.fp = nullptr;
  std::unique_ptr<fy_diag, DiagDelete> diag(fy_diag_create(&quiet));
  if (diag != nullptr) fy_diag_set_collect_errors(diag.get(), true);
  return diag;
}

}  // namespace stoker::yaml
