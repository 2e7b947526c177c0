#include "lint_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "catalog/yaml/view.h"
#include "cluster/kubernetes/api/kubeconfig.h"
#include "cluster/kubernetes/api/list.h"
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
const KindName services{"", "Service"};

// Services first, for they tell what serves; then the kinds of kinds.def from its end on: a controller before what it makes.
std::vector<KindName> kinds_to_list() {
  std::vector<KindName> kinds = {services};
  const auto rows = lint::kubernetes::all_kinds();
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    const bool known = std::ranges::any_of(kinds, [&](const KindName& each) {
      return each.group == row->group && each.kind == row->kind;
    });
    if (!known) kinds.push_back({std::string(row->group), std::string(row->kind)});
  }
  return kinds;
}

std::string rbac_rule(const Resource& resource) {
  return fmt::format("{{apiGroups: [\"{}\"], resources: [\"{}\"], verbs: [\"list\"]}}",
                     resource.group, resource.plural);
}

class ClusterLook {
 public:
  ClusterLook(kubernetes::Client client, std::string name_space)
      : client_(std::move(client)), name_space_(std::move(name_space)) {
    look_.what = "object";
  }

  Result<LintLook> run() {
    const auto served = kubernetes::find_served(client_, kinds_to_list());
    if (!served) return fail(served.error());
    for (const auto& [group, why] : served->unknown) {
      look_.unread.push_back(fmt::format(
          "kinds of {}: not looked at, whether they are served is not known ({})", group, why));
    }
    for (const Resource& resource : served->resources) list(resource);
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

  void list(const Resource& resource) {
    Part part;
    const auto before = owners_;
    const auto result = kubernetes::list_objects(
        client_, resource, {.name_space = name_space_},
        [&](std::string_view object) { take(object, part); },
        [&] {
          part = {};
          owners_ = before;
        });
    if (result.outcome == ListOutcome::complete) {
      owners_.add_kind(resource.group, resource.kind);
    } else if (result.outcome != ListOutcome::not_served) {
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
  }

  void take(std::string_view text, Part& part) {
    const auto document = yaml::Document::parse({text, 1}, "object");
    if (!document) {
      part.unread.push_back(
          fmt::format("an object: not looked at ({})", document.error().describe()));
      return;
    }
    const yaml::View object = document->root();
    if (object.find("kind").text() == services.kind && object.find("apiVersion").text() == "v1")
      return linter_.add_service(object);
    if (owners_.look_at(object) != lint::Look::itself) return;
    auto found = linter_.lint(object);
    if (!found.workload) return;
    part.names.push_back(entity_word(lint::kubernetes::object_entity(object)));
    part.ignored += found.ignored;
    std::ranges::move(found.findings, std::back_inserter(part.findings));
  }

  kubernetes::Client client_;
  const std::string name_space_;
  lint::kubernetes::LiveLinter linter_;
  lint::Owners owners_;
  LintLook look_;
};

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
  auto look = ClusterLook(kubernetes::Client(*std::move(access)), question.name_space).run();
  if (look) lint::sort_findings(look->findings);
  return look;
}

}  // namespace stoker::app
