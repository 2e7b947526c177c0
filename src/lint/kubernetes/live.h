// Analyzer stage: the linter of objects as a cluster has them. The same rules as for manifests; a finding is about an
// object and its field, since there is no file. Pure: an object's JSON in, findings out.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/yaml/view.h"
#include "model/finding.h"

namespace stoker::lint::kubernetes {

struct LiveFindings {
  std::vector<Finding> findings;
  bool workload = false;    // it has pods
  std::size_t ignored = 0;  // findings that an annotation wants ignored
};

class LiveLinter {
 public:
  // A Service sends requests to pods, which may tell that they serve. To be added before what it selects; only its
  // selector is kept.
  void add_service(yaml::View service);

  // A ResourceClaim or ResourceClaimTemplate, whose JSON is `text`: how many GPUs pods have by it. One that was made of a
  // template for a pod is not kept.
  void add_claim(yaml::View claim, std::string_view text);

  // Looks at one object, whose JSON is `object`, parsed.
  [[nodiscard]] LiveFindings lint(yaml::View object) const;

 private:
  using Kept = std::map<std::string, std::vector<yaml::View>, std::less<>>;  // by namespace

  void keep(std::string text, yaml::View object, Kept& kept);
  static const std::vector<yaml::View>& kept_in(const Kept& kept, yaml::View object);

  std::deque<std::string> texts_;  // what the views below point into
  std::vector<yaml::Document> documents_;
  Kept services_;
  Kept claims_;
};

// "ml/Deployment/llm", "Node/gpu-1": as findings name an object of a cluster.
std::string object_id(yaml::View object);
Entity object_entity(yaml::View object);

}  // namespace stoker::lint::kubernetes
