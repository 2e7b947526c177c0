#include "lint_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "catalog/yaml/view.h"
#include "cluster/kubernetes/api/kubeconfig.h"
#include "cluster/kubernetes/api/list.h"
#include "lint/cluster/cluster.h"
#include "lint/cluster/configs.h"
#include "lint/cluster/owners.h"
#include "lint/kubernetes/kinds.h"
#include "lint/kubernetes/live.h"
#include "model/render.h"

namespace stoker::app {
namespace {

using kubernetes::KindName;
using kubernetes::ListOutcome;
using kubernetes::Resource;

// What is listed besides the kinds that carry pods.
const KindName nodes{"", "Node"};
const KindName pods{"", "Pod"};
const KindName services{"", "Service"};
const KindName config_maps{"", "ConfigMap"};
// What a pod has by a claim: how many GPUs.
const std::vector<KindName> claim_kinds = {{"resource.k8s.io", "ResourceClaimTemplate"},
                                           {"resource.k8s.io", "ResourceClaim"}};
// Rules of alerts as objects: Prometheus' operator, VictoriaMetrics', Google's managed Prometheus.
const std::vector<KindName> alert_kinds = {{"monitoring.coreos.com", "PrometheusRule"},
                                           {"operator.victoriametrics.com", "VMRule"},
                                           {"monitoring.googleapis.com", "Rules"},
                                           {"monitoring.googleapis.com", "ClusterRules"}};

bool is_kind(const KindName& kind, std::string_view group, std::string_view word) {
  return kind.group == group && kind.kind == word;
}

bool is_one_of(const std::vector<KindName>& kinds, std::string_view group, std::string_view word) {
  return std::ranges::any_of(kinds,
                             [&](const KindName& each) { return is_kind(each, group, word); });
}

// Nodes, which tell what pods are of interest, Services, which tell what serves, and claims come first; then the kinds of kinds.def
// from its end on: a controller before what it makes.
std::vector<KindName> kinds_to_list(bool whole_cluster) {
  std::vector<KindName> kinds;
  if (whole_cluster) kinds.push_back(nodes);
  kinds.push_back(services);
  kinds.push_back(config_maps);
  kinds.insert(kinds.end(), alert_kinds.begin(), alert_kinds.end());
  kinds.insert(kinds.end(), claim_kinds.begin(), claim_kinds.end());
  const auto rows = lint::kubernetes::all_kinds();
  const std::vector<lint::kubernetes::KindRow> backwards(rows.rbegin(), rows.rend());
  for (const auto& row : backwards) {
    if (!is_one_of(kinds, row.group, row.kind))
      kinds.push_back({std::string(row.group), std::string(row.kind)});
  }
  return kinds;
}

std::string rbac_rule(const Resource& resource) {
  return fmt::format("{{apiGroups: [\"{}\"], resources: [\"{}\"], verbs: [\"list\"]}}",
                     resource.group, resource.plural);
}

class ClusterLook {
 public:
  ClusterLook(kubernetes::Client client, std::string name_space, WallTime now)
      : client_(std::move(client)), name_space_(std::move(name_space)), now_(now) {
    look_.what = "object";
  }

  Result<LintLook> run() {
    const bool whole = name_space_.empty();
    const auto served = kubernetes::find_served(client_, kinds_to_list(whole));
    if (!served) return fail(served.error());
    facts_.seen = {.nodes = whole, .pods = whole, .alerts = whole};
    for (const auto& [group, why] : served->unknown) {
      look_.unread.push_back(fmt::format(
          "kinds of {}: not looked at, whether they are served is not known ({})", group, why));
      if (is_alert_group(group)) facts_.seen.alerts = false;
    }
    const bool has_pods = std::ranges::any_of(served->resources, [](const Resource& resource) {
      return is_kind(pods, resource.group, resource.kind);
    });
    // Every cluster has them: this server is none, or hides what it serves.
    if (!has_pods)
      look_.unread.emplace_back("pods: not looked at (the server does not say that it lists them)");
    for (const Resource& resource : served->resources) list(resource);
    if (whole) look_at_the_whole();
    return std::move(look_);
  }

 private:
  // What one kind has told so far; forgotten where its list is begun again.
  struct Part {
    std::vector<Finding> findings;
    std::vector<std::string> names;
    std::size_t ignored = 0;
    std::vector<std::string> unread;
  };

  static bool is_alert_group(std::string_view group) {
    return std::ranges::any_of(alert_kinds,
                               [&](const KindName& each) { return each.group == group; });
  }

  void list(const Resource& resource) {
    Part part;
    const auto owners = owners_;
    const auto facts = facts_;
    const auto result = kubernetes::list_objects(
        client_, resource, {.name_space = name_space_},
        [&](std::string_view object) { take(resource, object, part); },
        [&] {
          part = {};
          owners_ = owners;
          facts_ = facts;
        });
    if (result.outcome == ListOutcome::complete) {
      owners_.add_kind(resource.group, resource.kind);
    } else {
      not_looked_at(resource, result);
    }
    std::ranges::move(part.findings, std::back_inserter(look_.findings));
    std::ranges::move(part.names, std::back_inserter(look_.files));
    std::ranges::move(part.unread, std::back_inserter(look_.unread));
    look_.ignored += part.ignored;
  }

  void not_looked_at(const Resource& resource, const kubernetes::ListResult& result) {
    const auto name = resource.group.empty()
                          ? resource.plural
                          : fmt::format("{}.{}", resource.plural, resource.group);
    look_.unread.push_back(result.outcome == ListOutcome::forbidden
                               ? fmt::format("{}: not looked at (forbidden: {}); this rule of a "
                                             "ClusterRole would allow it: {}",
                                             name, result.reason, rbac_rule(resource))
                               : fmt::format("{}: not looked at{} ({})", name,
                                             result.objects > 0 ? " to the end" : "",
                                             result.reason));
    auto& seen = facts_.seen;
    if (is_kind(nodes, resource.group, resource.kind)) seen.nodes = false;
    if (is_kind(pods, resource.group, resource.kind)) seen.pods = false;
    if (is_kind(config_maps, resource.group, resource.kind) ||
        is_one_of(alert_kinds, resource.group, resource.kind))
      seen.alerts = false;
  }

  void take(const Resource& resource, std::string_view text, Part& part) {
    const auto document = yaml::Document::parse({text, 1}, "object");
    if (!document) {
      part.unread.push_back(fmt::format("one of {}: not looked at ({})", resource.plural,
                                        document.error().describe()));
      return;
    }
    const yaml::View object = document->root();
    const auto is = [&](const KindName& kind) {
      return is_kind(kind, resource.group, resource.kind);
    };
    if (is(nodes)) {
      part.names.push_back(
          entity_word({EntityKind::node, std::string(object.at("metadata.name").text())}));
      return facts_.add_node(object);
    }
    if (is(services)) return linter_.add_service(object);
    if (is_one_of(claim_kinds, resource.group, resource.kind))
      return linter_.add_claim(object, text);
    if (is(config_maps) || is_one_of(alert_kinds, resource.group, resource.kind)) {
      facts_.add_alerts(text, is(config_maps));
      return keep(lint::lint_config_object(text, object), part);
    }
    if (is(pods)) facts_.add_pod(object);
    if (owners_.look_at(object) != lint::Look::itself) return;
    auto found = linter_.lint(object);
    if (!found.workload) return;
    facts_.add_workload(object);
    part.names.push_back(entity_word(lint::kubernetes::object_entity(object)));
    part.ignored += found.ignored;
    keep(std::move(found.findings), part);
  }

  static void keep(std::vector<Finding> findings, Part& part) {
    std::ranges::move(findings, std::back_inserter(part.findings));
  }

  void look_at_the_whole() {
    auto found = lint::lint_cluster(facts_, client_.access().name, now_);
    std::ranges::move(found, std::back_inserter(look_.findings));
    std::erase_if(look_.findings,
                  [&](const Finding& each) { return lint::is_beside_the_point(facts_, each); });
    if (facts_.seen.nodes && facts_.seen.pods) return;
    look_.unread.push_back(fmt::format(
        "the cluster as a whole: {} not seen to the end, so what they are needed for is not known",
        facts_.seen.nodes ? "pods were" : "nodes were"));
  }

  kubernetes::Client client_;
  const std::string name_space_;
  const WallTime now_;
  lint::kubernetes::LiveLinter linter_;
  lint::Owners owners_;
  lint::ClusterFacts facts_;
  LintLook look_;
};

// In order, with all that something was found in: nodes, configurations, the cluster itself.
void name_all(LintLook& look) {
  std::set<std::string> names(look.files.begin(), look.files.end());
  for (const Finding& finding : look.findings) names.insert(entity_word(finding.entity));
  look.files.assign(names.begin(), names.end());
}

}  // namespace

Result<LintLook> look_at_cluster(const ClusterQuestion& question) {
  auto access = kubernetes::find_access(
      kubernetes::kubeconfig_question(question.kubeconfig, question.context));
  if (!access) return fail(access.error());
  if (!question.token_file.empty()) {
    access->token_file = question.token_file;
    access->token.clear();
    access->exec.reset();
  }
  auto look = ClusterLook(kubernetes::Client(*std::move(access)), question.name_space,
                          system_clock().wall())
                  .run();
  if (!look) return look;
  lint::sort_findings(look->findings);
  name_all(*look);
  return look;
}

}  // namespace stoker::app
