#include "lint/kubernetes/workload.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lint/kubernetes/claims.h"
#include "lint/kubernetes/quantity.h"
#include "lint/kubernetes/script_words.h"
#include "lint/kubernetes/template_text.h"

namespace stoker::lint::kubernetes {
namespace {

using yaml::View;

// For kinds without a row nobody here knows what their controller adds.
constexpr KindRow unknown_kind{
    "", "", "", Form::pod_template, "", Purpose::unknown, Gives::runtime};

Gpus gpus_of(const Container& container) {
  Gpus gpus;
  int count = 0;
  bool known = true;
  const auto take = [&](View key, View value) {
    if (!is_gpu_resource(key.text()) || value.text() == "0") return;
    gpus.any = true;
    gpus.resource = key.text();
    const auto number = quantity_of(value.text());
    // A MIG device or a share (nvidia.com/gpu.shared) is less than a GPU.
    known = known && number && *number == std::floor(*number) && *number < 1024 &&
            (key.text() == "nvidia.com/gpu" || key.text() == "amd.com/gpu");
    if (known) count += static_cast<int>(*number);
  };
  container.limits.each_entry(take);
  if (!gpus.any) container.requests.each_entry(take);
  if (gpus.any && known) gpus.count = count;
  return gpus;
}

class PodReader {
 public:
  PodReader(Workload& workload, const TemplateText& source, std::span<const View> claims)
      : workload_(workload), source_(source), claims_(claims) {}

  void read(const KindRow& row) { walk(row, row.path, workload_.object, {}, row.role); }

  // Anything below `node` that holds a list `containers` of maps.
  void search(View node, View owner, int depth) {
    if (depth > 16 || --left_ < 0) return;
    if (node.find("containers").is_list()) {
      const View around = owner.find("metadata");
      return take(unknown_kind, owner, around, node, {});
    }
    node.each_entry([&](View, View value) { descend(value, node, depth); });
    node.each_item([&](View item) { descend(item, node, depth); });
  }

 private:
  void descend(View node, View owner, int depth) {
    if (node.is_map() || node.is_list()) search(node, owner, depth + 1);
  }

  void walk(const KindRow& row, std::string_view path, View node, View owner,
            std::string_view role) {
    if (!node.is_map() && !node.is_list()) return;
    if (path.empty()) return arrive(row, node, owner, role);
    const auto dot = std::min(path.find('.'), path.size());
    const auto step = path.substr(0, dot);
    const auto rest = path.substr(std::min(dot + 1, path.size()));
    if (step != "*") return walk(row, rest, node.find(step), node, role);
    node.each_entry([&](View key, View value) {
      walk(row, rest, value, node, role.empty() ? key.text() : role);
    });
    node.each_item([&](View item) {
      const auto name = item.find("name").text();
      walk(row, rest, item, node, role.empty() ? name : role);
    });
  }

  void arrive(const KindRow& row, View node, View owner, std::string_view role) {
    switch (row.form) {
      case Form::pod_template:
        return take(row, owner, node.find("metadata"), node.find("spec"), role);
      case Form::pod_spec:
        if (!node.find("containers").is_list()) return;
        return take(row, owner, {}, node, role);
      case Form::runner:
        if (!node.find("runner").is_map()) return;
        return take(row, owner, {}, node, role);
      case Form::container:
      case Form::trainer: {
        Pod pod = pod_of(row, owner, {}, owner, role);
        add_container(pod, node, "resources", false);
        if (row.form == Form::trainer) {
          pod.containers.back().limits = node.at("resourcesPerNode.limits");
          pod.containers.back().requests = node.at("resourcesPerNode.requests");
          pod.containers.back().gpus = gpus_of(pod.containers.back());
        }
        workload_.pods.push_back(std::move(pod));
      }
    }
  }

  static Pod pod_of(const KindRow& row, View owner, View metadata, View spec,
                    std::string_view role) {
    Pod pod;
    pod.row = &row;
    pod.role = role;
    pod.owner = owner;
    pod.metadata = metadata;
    pod.spec = spec;
    return pod;
  }

  void take(const KindRow& row, View owner, View metadata, View spec, std::string_view role) {
    if (!spec.is_map()) return;
    Pod pod = pod_of(row, owner, metadata, spec, role);
    const View containers = spec.find("containers");
    spec.find("initContainers").each_item([&](View item) {
      add_container(pod, item, "resources", true);
    });
    containers.each_item([&](View item) { add_container(pod, item, "resources", false); });
    if (row.form == Form::runner) add_container(pod, spec.find("runner"), "resources", false);
    find_openings(spec, pod.open, pod.open_keys);
    for (Container& container : pod.containers) {
      find_openings(container.view, container.open, container.open_keys);
      if (source_.templated) mark_branches(container);
    }
    workload_.pods.push_back(std::move(pod));
  }

  // Of two branches of a template each may have its own limits; which one counts is not known.
  static void mark_branches(Container& container) {
    int times = 0;
    container.view.find("resources").each_entry([&](View key, View) {
      times += key.text() == "limits" ? 1 : 0;
    });
    if (times > 1) container.open_keys.emplace_back("resources");
  }

  // Where a template may add lines to `map`: to itself, or to the values of which keys.
  void find_openings(View map, bool& open, std::vector<std::string_view>& keys) const {
    if (source_.holes.empty()) return;
    const yaml::Place first = map.place();
    const int end = source_.block_end(first);
    for (const Hole& hole : source_.holes) {
      if (hole.line < first.line || hole.line >= end) continue;
      const bool known = hole.owner_line > 0;
      if (known && hole.column < first.column - 1) continue;  // behind it, at an outer level
      const bool above = hole.owner_line < first.line ||
                         (hole.owner_line == first.line && hole.owner_column < first.column - 1);
      if (!known || above) {
        open = true;
        continue;
      }
      std::string_view around;
      map.each_entry([&](View key, View) {
        if (key.place().line <= hole.owner_line) around = key.text();
      });
      keys.push_back(around);
    }
  }

  void add_container(Pod& pod, View view, std::string_view resources, bool init) const {
    if (!view.is_map()) return;
    Container container;
    container.view = view;
    container.name = view.find("name").text();
    container.image = view.find("image");
    container.sidecar = init && view.find("restartPolicy").text() == "Always";
    container.init = init && !container.sidecar;
    container.limits = view.find(resources).find("limits");
    container.requests = view.find(resources).find("requests");
    view.find("env").each_item([&](View entry) {
      container.env.push_back({entry, entry.find("name").text(), entry.find("value")});
    });
    for (const auto* key : {"command", "args"}) {
      view.find(key).each_item([&](View item) { add_words(item, container.words); });
    }
    container.gpus = gpus_of(container);
    if (!container.gpus.any)
      container.gpus = gpus_claimed(pod.spec, view.find("resources"), claims_);
    // Without an image in a kind that nothing completes: a patch of kustomize.
    pod.partial = pod.partial || (pod.row->gives == Gives::nothing && container.image.is_null());
    pod.containers.push_back(std::move(container));
  }

  Workload& workload_;
  const TemplateText& source_;
  const std::span<const View> claims_;
  int left_ = 20000;  // nodes that a search may see: aliases can make a small file endless
};

// A policy has patterns of pods, and runs none: https://kyverno.io/docs/policy-types/,
// https://open-policy-agent.github.io/gatekeeper/website/docs/howto/,
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
bool is_policy(std::string_view group) {
  return group == "kyverno.io" || group == "policies.kyverno.io" ||
         group.ends_with(".gatekeeper.sh") || group == "admissionregistration.k8s.io";
}

}  // namespace

const EnvVar* Container::variable(std::string_view name_wanted) const {
  const auto found = std::ranges::find(env, name_wanted, &EnvVar::name);
  return found == env.end() ? nullptr : &*found;
}

bool Container::may_gain(std::string_view key) const {
  return open || std::ranges::find(open_keys, key) != open_keys.end();
}

yaml::Place Container::place() const { return key_place(view, "name"); }

bool Pod::may_gain(std::string_view key) const {
  return open || std::ranges::find(open_keys, key) != open_keys.end();
}

bool Pod::has_gpus() const {
  return std::ranges::any_of(containers, [](const Container& each) { return each.gpus.any; });
}

bool Workload::has_gpus() const {
  return std::ranges::any_of(pods, [](const Pod& pod) { return pod.has_gpus(); });
}

bool Workload::selects_gpus() const {
  return std::ranges::any_of(pods, [](const Pod& pod) {
    // https://github.com/NVIDIA/k8s-device-plugin/blob/main/docs/gpu-feature-discovery/README.md,
    // https://cloud.google.com/kubernetes-engine/docs/how-to/gpus
    bool labelled = false;
    pod.spec.find("nodeSelector").each_entry([&](View key, View value) {
      labelled =
          labelled || key.text().starts_with("nvidia.com/gpu") ||
          key.text().starts_with("amd.com/gpu") ||
          (key.text() == "cloud.google.com/gke-accelerator" && value.text().starts_with("nvidia"));
    });
    return labelled || pod.spec.find("runtimeClassName").text() == "nvidia";
  });
}

bool is_gpu_resource(std::string_view resource) {
  return resource == "nvidia.com/gpu" || resource == "nvidia.com/gpu.shared" ||
         resource.starts_with("nvidia.com/mig-") || resource == "amd.com/gpu" ||
         resource == "gpu.intel.com/i915" || resource == "gpu.intel.com/xe";
}

yaml::Place key_place(View map, std::string_view key) {
  yaml::Place place = map.place();
  map.each_entry([&](View name, View) {
    if (name.text() == key) place = name.place();
  });
  return place;
}

View volume_of(const Pod& pod, std::string_view name) {
  View found;
  pod.spec.find("volumes").each_item([&](View volume) {
    if (volume.find("name").text() == name) found = volume;
  });
  return found;
}

std::vector<Mount> mounts_of(const Pod& pod, const Container& container) {
  std::vector<Mount> mounts;
  container.view.find("volumeMounts").each_item([&](View mount) {
    mounts.push_back(
        {mount, mount.find("mountPath").text(), volume_of(pod, mount.find("name").text())});
  });
  return mounts;
}

Workload workload_of(View object, const TemplateText& source, std::span<const View> claims) {
  Workload workload;
  workload.object = object;
  workload.group = group_of(object.find("apiVersion").text());
  workload.kind = object.find("kind").text();
  workload.name = object.at("metadata.name").text();
  constexpr std::array<std::string_view, 5> without_pods = {
      "ConfigMap", "Secret", "Service", "CustomResourceDefinition", "PersistentVolumeClaim"};
  PodReader reader(workload, source, claims);
  bool known = is_policy(workload.group) ||
               (std::ranges::find(without_pods, workload.kind) != without_pods.end() &&
                workload.group.find("knative") == std::string_view::npos);
  for (const KindRow& row : all_kinds()) {
    if (row.kind != workload.kind || row.group != workload.group) continue;
    reader.read(row);
    known = true;
  }
  if (!known) reader.search(object, {}, 0);
  // Without a leaderTemplate the workers' is the leader's too
  // (https://github.com/kubernetes-sigs/lws api/leaderworkerset/v1/leaderworkerset_types.go).
  if (workload.kind == "LeaderWorkerSet" && workload.pods.size() == 1)
    workload.pods.front().role = {};
  return workload;
}

}  // namespace stoker::lint::kubernetes
