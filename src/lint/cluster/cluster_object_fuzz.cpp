// Any bytes as an object of a cluster, whatever it says that it is: every finding is about an object, in no file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "catalog/yaml/libfyaml_leaks_test_support.h"
#include "lint/cluster/cluster.h"
#include "lint/cluster/configs.h"
#include "lint/cluster/owners.h"
#include "lint/kubernetes/live.h"

namespace {

void expect_whole(const std::vector<stoker::Finding>& findings) {
  for (const auto& finding : findings) {
    if (finding.rule.empty() || finding.source.empty() || finding.message.empty() ||
        finding.location)
      std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace lint = stoker::lint;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = stoker::yaml::Document::parse({text, 1}, "object");
  if (!document) return 0;
  const auto object = document->root();
  lint::kubernetes::LiveLinter linter;
  linter.add_service(object);
  linter.add_claim(object, text);
  expect_whole(linter.lint(object).findings);
  expect_whole(lint::lint_config_object(text, object));
  (void)lint::Owners().look_at(object);
  lint::ClusterFacts facts;
  facts.seen = {.nodes = true, .pods = true, .alerts = true};
  facts.add_node(object);
  facts.add_pod(object);
  facts.add_workload(object);
  facts.add_alerts(text, false);
  expect_whole(lint::lint_cluster(facts, "fuzz", {}));
  return 0;
}
