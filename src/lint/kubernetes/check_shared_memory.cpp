// Analyzer stage: /dev/shm.
#include <algorithm>

#include "base/text.h"
#include "lint/kubernetes/quantity.h"
#include "lint/kubernetes/subject.h"

namespace stoker::lint::kubernetes {
namespace {

// NVIDIA's advice for containers is --shm-size=1g (NCCL user guide, Troubleshooting, Shared memory).
constexpr double least_bytes = 0x1p30;

// Has the container one process, or processes that share nothing through /dev/shm? Of an MPIJob the launcher starts
// slotsPerWorker of them, whatever they run
// (https://github.com/kubeflow/mpi-operator pkg/apis/kubeflow/v2beta1/types.go).
bool is_one_process(const Subject& subject) {
  const auto slots = whole_number<int>(subject.workload.object.at("spec.slotsPerWorker").text());
  if (subject.workload.kind == "MPIJob" && slots.value_or(1) > 1) return false;
  switch (subject.evidence.framework) {
    case Framework::tensorflow:
    case Framework::jax:
    case Framework::mindspore:
    case Framework::ollama:
    case Framework::llama_cpp:
    case Framework::llama_swap: return true;
    default: return false;
  }
}

// Why this container shares memory; empty: nothing says that it does.
std::string sharing(const Subject& subject, const Container& container) {
  const auto framework = subject.evidence.framework;
  if (is_one_process(subject)) return {};
  if (subject.evidence.purpose == Purpose::system) return {};
  if (subject.evidence.purpose == Purpose::benchmark && framework != Framework::nccl_tests)
    return {};
  if (container.gpus.count.value_or(0) >= 2) {
    return fmt::format("asks for {} GPUs, between which NCCL uses shared memory",
                       *container.gpus.count);
  }
  if (framework == Framework::torch && subject.evidence.purpose == Purpose::training) {
    return "trains with PyTorch, whose data loader workers hand batches over in shared memory";
  }
  return {};
}

bool is_shm(std::string_view path) { return path == "/dev/shm" || path == "/dev/shm/"; }

void check_size(const Subject& subject, const Container& container, const Mount& mount) {
  const yaml::View size = mount.volume.at("emptyDir.sizeLimit");
  const auto bytes = quantity_of(size.text());
  if (!bytes) return;
  if (*bytes < least_bytes && !sharing(subject, container).empty()) {
    subject.add(RuleId::shm_small, size.place(),
                fmt::format("{} has a /dev/shm of {} and {}", subject.name_of(container),
                            size.text(), sharing(subject, container)));
  }
  const auto limit = quantity_of(container.limits.find("memory").text());
  if (limit && *bytes >= *limit) {
    subject.add(RuleId::shm_above_limit, size.place(),
                fmt::format("{} has a /dev/shm of {} within a memory limit of {}",
                            subject.name_of(container), size.text(),
                            container.limits.find("memory").text()));
  }
}

// Half of the memory limit, which a tmpfs has of the memory where nothing is said
// (https://docs.kernel.org/filesystems/tmpfs.html), in whole MiB.
void repair_size(const Subject& subject, const Container& container, yaml::View volume) {
  const auto limit = quantity_of(container.limits.find("memory").text());
  if (!limit || *limit < 0x1p21 || *limit > 0x1p50 || subject.source.templated) return;
  const auto medium = key_place(volume.find("emptyDir"), "medium");
  const auto size = fmt::format("sizeLimit: {}Mi", static_cast<std::int64_t>(*limit / 0x1p21));
  subject.repairs.push_back({row_of(RuleId::shm_unbounded).id,
                             key_place(volume, "emptyDir"),
                             medium,
                             {size},
                             size + ", "});
}

// Does something add volumes to the pod at run time? KubeRay and KServe do; a TrainJob takes its runtime's as they are
// (but for podTemplateOverrides, which name theirs).
bool is_given_volumes(const Subject& subject, const Pod& pod) {
  const bool training_runtime = subject.workload.kind == "TrainingRuntime" ||
                                subject.workload.kind == "ClusterTrainingRuntime";
  return pod.row->gives != Gives::nothing && !training_runtime;
}

void check_container(const Subject& subject, const Pod& pod, const Container& container,
                     std::vector<std::string_view>& told) {
  const auto mounts = mounts_of(pod, container);
  const auto shm =
      std::ranges::find_if(mounts, [](const Mount& mount) { return is_shm(mount.path); });
  if (shm == mounts.end()) {
    const auto why = sharing(subject, container);
    const bool given = is_given_volumes(subject, pod) || !has_all_volumes(pod, container) ||
                       pod.spec.find("hostIPC").text() == "true";
    if (why.empty() || given || !has_all_resources(pod, container)) return;
    return subject.add(
        RuleId::shm_missing, container.place(),
        fmt::format("{} {}, and has 64 MiB of /dev/shm", subject.name_of(container), why));
  }
  const yaml::View empty_dir = shm->volume.find("emptyDir");
  if (empty_dir.find("medium").text() != "Memory") return;
  if (empty_dir.find("sizeLimit").exists()) return check_size(subject, container, *shm);
  const auto name = shm->view.find("name").text();
  // An action behind `medium: Memory` may write the limit.
  const int line = empty_dir.place().line;
  const bool hidden = std::ranges::any_of(subject.source.holes, [&](const Hole& hole) {
    return hole.line >= line && hole.line <= line + 2;
  });
  if (hidden || std::ranges::find(told, name) != told.end()) return;
  told.push_back(name);
  subject.add(RuleId::shm_unbounded, key_place(shm->volume, "emptyDir"),
              fmt::format("volume '{}' at /dev/shm of {} has no sizeLimit", name,
                          subject.name_of(container)));
  repair_size(subject, container, shm->volume);
}

}  // namespace

void check_shared_memory(const Subject& subject) {
  for (const Pod& pod : subject.workload.pods) {
    std::vector<std::string_view> told;
    for (const Container& container : pod.containers) {
      if (container.gpus.any && !container.init) check_container(subject, pod, container, told);
    }
  }
}

}  // namespace stoker::lint::kubernetes
