// Analyzer stage: an object of Kubernetes as the pods it will run. Everything points into the parsed document, which
// has to live as long.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/yaml/view.h"
#include "lint/kubernetes/kinds.h"
#include "lint/kubernetes/template_text.h"

namespace stoker::lint::kubernetes {

struct EnvVar {
  yaml::View entry;
  std::string_view name;
  yaml::View value;  // nothing where valueFrom tells, or nobody
};

// One word of command or args, or of a shell script among them.
struct Word {
  std::string_view text;
  yaml::View from;  // the item of the list
};

// GPUs that a container asks for.
struct Gpus {
  bool any = false;
  std::optional<int>
      count;  // whole GPUs; nullopt: a placeholder, a share, a MIG device or not known
  std::string_view resource;  // empty: by a claim
};

struct Container {
  yaml::View view;
  std::string_view name;
  yaml::View image;
  bool init = false;     // ends before the others start
  bool sidecar = false;  // an init container that goes on (restartPolicy: Always)
  // Where a template may add lines: to the container itself, or to the values of these keys.
  bool open = false;
  std::vector<std::string_view> open_keys;
  yaml::View limits;
  yaml::View requests;
  std::vector<EnvVar> env;
  std::vector<Word> words;
  Gpus gpus;

  // Where a reader looks for what is missing in it: its name, or its first line where it has none.
  [[nodiscard]] yaml::Place place() const;
  [[nodiscard]] const EnvVar* variable(std::string_view name) const;
  // May a template write `key`, or more of its value?
  [[nodiscard]] bool may_gain(std::string_view key) const;
};

struct Pod {
  const KindRow* row = nullptr;
  std::string_view role;
  yaml::View owner;  // what the template stands in: has `replicas` where there are several
  yaml::View metadata;
  yaml::View spec;
  bool partial = false;  // a patch: what is not here may stand in what it is merged into
  // Where a template may add lines: to the spec itself, or to the values of these keys.
  bool open = false;
  std::vector<std::string_view> open_keys;
  std::vector<Container> containers;

  [[nodiscard]] bool has_gpus() const;
  // May a template write `key` of the spec, or more of its value?
  [[nodiscard]] bool may_gain(std::string_view key) const;
};

struct Workload {
  yaml::View object;
  std::string_view group;
  std::string_view kind;
  std::string_view name;
  std::vector<Pod> pods;

  [[nodiscard]] bool has_gpus() const;
  // Wants nodes with GPUs, whether or not it asks for one: by a label of theirs, or by the runtime class.
  [[nodiscard]] bool selects_gpus() const;
};

// The pods of `object`, by kinds.def or, for a kind without a row, wherever something looks like a pod template.
// `claims` as gpus_claimed() wants them.
Workload workload_of(yaml::View object, const TemplateText& source,
                     std::span<const yaml::View> claims = {});

// Is `resource` a name under which the device plugin of NVIDIA, AMD or Intel offers whole or shared GPUs or MIG devices?
// Not of HAMi's gpumem and gpucores, which are amounts.
bool is_gpu_resource(std::string_view resource);

// Where `key` stands in `map`, or where the map begins.
yaml::Place key_place(yaml::View map, std::string_view key);

// The volume of `name` in the pod's spec; nothing: there is none.
yaml::View volume_of(const Pod& pod, std::string_view name);

struct Mount {
  yaml::View view;
  std::string_view path;
  yaml::View volume;
};
std::vector<Mount> mounts_of(const Pod& pod, const Container& container);

}  // namespace stoker::lint::kubernetes
