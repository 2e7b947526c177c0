// Analyzer stage: whether a training's checkpoints outlive its pods.
#include <algorithm>
#include <array>

#include "lint/kubernetes/script_words.h"
#include "lint/kubernetes/storage.h"
#include "lint/kubernetes/subject.h"
#include "lint/kubernetes/template_text.h"

namespace stoker::lint::kubernetes {
namespace {

// "--bucket" and "CKPT_BUCKET": a program that is told of a bucket writes there.
bool is_bucket(std::string_view name) {
  return name.find("BUCKET") != std::string_view::npos ||
         (name.starts_with("--") && name.find("bucket") != std::string_view::npos);
}

// Does anything in the container name an object store?
bool names_a_store(const Container& container) {
  const auto is_store = [](std::string_view text) {
    for (const auto* scheme :
         {"s3://", "gs://", "az://", "abfs://", "hdfs://", "oci://", "s3a://", "wasb"}) {
      if (text.find(scheme) != std::string_view::npos) return true;
    }
    return false;
  };
  return std::ranges::any_of(container.words,
                             [&](const Word& word) {
                               return is_store(word.text) ||
                                      is_bucket(word.text.substr(0, word.text.find('=')));
                             }) ||
         std::ranges::any_of(container.env, [&](const EnvVar& variable) {
           return is_store(variable.value.text()) || is_bucket(variable.name);
         });
}

// May a template write a place there that is not seen here?
bool may_name_a_store(const Container& container) {
  return std::ranges::any_of(std::array{"command", "args", "env"},
                             [&](const char* key) { return container.may_gain(key); });
}

// Of a checkpoint directory named in the command: why nothing of it is found later; empty: it is kept, or not known.
std::string loss_of(const Pod& pod, const Container& container, std::string_view directory) {
  if (directory.empty() || directory.find("://") != std::string_view::npos ||
      is_filled_in_later(directory))
    return {};
  if (directory.front() != '/') {
    // Relative to a folder that the image chooses: lost unless something is mounted there.
    if (container.view.find("workingDir").exists()) return {};
    return "a folder of the container's own file system";
  }
  const Mount mount = mount_above(pod, container, directory);
  if (mount.path.empty()) return "a folder of the container's own file system";
  switch (lasting_of(mount)) {
    case Lasting::everywhere: return {};
    case Lasting::on_the_node: return "a folder of the node";
    case Lasting::no: return "a volume that ends with the pod";
  }
  return {};
}

// Says what is wrong with the directory of the command; false: the command names none.
bool check_directory(const Subject& subject, const Pod& pod, const Container& container) {
  const auto option =
      option_of(container, {"--checkpoint-dir", "--checkpoint-path", "--ckpt-dir", "--save-dir",
                            "--output-dir", "--checkpoints-dir", "--checkpoint-folder", "--save"});
  if (!option) return false;
  const auto loss = loss_of(pod, container, option->text);
  if (loss.empty()) return true;
  subject.add(RuleId::checkpoint_ephemeral, option->from.place(),
              fmt::format("{} writes checkpoints to {}, {}", subject.name_of(container),
                          option->text, loss));
  return true;
}

}  // namespace

void check_checkpoints(const Subject& subject) {
  if (subject.evidence.purpose != Purpose::training) return;
  for (const Pod& pod : subject.workload.pods) {
    for (const Container& container : pod.containers) {
      if (!container.gpus.any || container.init || container.sidecar) continue;
      if (!is_complete(pod, container) || !has_all_volumes(pod, container) ||
          names_a_store(container) || may_name_a_store(container))
        continue;
      if (check_directory(subject, pod, container) || has_lasting_mount(pod, container)) continue;
      subject.add(RuleId::checkpoint_missing, container.place(),
                  fmt::format("{} trains and mounts nothing that outlives its pod",
                              subject.name_of(container)));
    }
  }
}

}  // namespace stoker::lint::kubernetes
