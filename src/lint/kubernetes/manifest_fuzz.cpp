// Any bytes as a manifest: read to the end; every finding has a rule of the table and a place in the file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "catalog/yaml/libfyaml_leaks_test_support.h"
#include "lint/ignore.h"
#include "lint/kubernetes/fixes.h"
#include "lint/kubernetes/lint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace lint = stoker::lint;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto manifest = lint::kubernetes::lint_manifest(text, "fuzz.yaml");
  // YAML 1.2, section 5.4: a carriage return breaks a line too.
  const auto lines = 1 + std::ranges::count_if(text, [](char c) { return c == '\n' || c == '\r'; });
  for (const auto& finding : manifest.findings) {
    if (finding.message.empty() || finding.source.empty() || !finding.location) std::abort();
    if (finding.location->line < 1 || finding.location->line > lines) std::abort();
    if (finding.location->column < 1) std::abort();
  }
  const auto edits = lint::kubernetes::repairs_of(text, manifest);
  if (edits.empty() != lint::unified_patch(text, edits, "fuzz.yaml").empty()) std::abort();
  if (!edits.empty())
    (void)lint::kubernetes::lint_manifest(lint::with_edits(text, edits), "fuzz.yaml");
  (void)lint::take_out_ignored(text, manifest.findings);
  return 0;
}
