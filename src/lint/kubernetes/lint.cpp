#include "lint/kubernetes/lint.h"

#include <algorithm>
#include <charconv>

#include "lint/kubernetes/annotations.h"
#include "lint/kubernetes/claims.h"
#include "lint/kubernetes/subject.h"
#include "lint/kubernetes/template_text.h"

namespace stoker::lint::kubernetes {
namespace {

using yaml::View;

// A List of more than this nobody writes; kubectl's own pages have 500.
constexpr std::size_t most_items = 100000;

// All documents of a file are kept until its end, since a Service may stand behind its pods; of a larger file only one
// at a time, which bounds memory.
constexpr std::size_t most_kept = yaml::largest_document;

// "file:line:column: message", as Document::parse says it.
Finding broken(const Error& error, const std::string& file, RuleId rule) {
  std::string_view text = error.message();
  if (text.starts_with(file)) text.remove_prefix(file.size() + 1);
  FileLocation place{file, 1, 1};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  at = std::from_chars(at, end, place.line).ptr;
  if (at != end && *at == ':') at = std::from_chars(at + 1, end, place.column).ptr;
  std::string_view message(at, static_cast<std::size_t>(end - at));
  while (message.starts_with(':') || message.starts_with(' ')) message.remove_prefix(1);
  return finding_of(row_of(rule), std::move(place), std::string(message));
}

class Linter {
 public:
  Linter(const std::string& file, const TemplateText& blanked, bool keep)
      : file_(file), blanked_(blanked), keep_(keep) {}

  void read(const yaml::Piece& piece) {
    auto document = yaml::Document::parse(piece, file_);
    if (!document) {
      const bool large = piece.text.size() > yaml::largest_document;
      out_.findings.push_back(broken(document.error(), file_,
                                     large                ? RuleId::manifest_too_large
                                     : blanked_.templated ? RuleId::template_not_read
                                                          : RuleId::manifest_broken));
      return;
    }
    ++out_.documents;
    take(document->root());
    if (keep_) {
      documents_.push_back(std::move(*document));
    } else {
      lint_all();
    }
  }

  Manifest finish() {
    lint_all();
    return std::move(out_);
  }

 private:
  void lint_all() {
    std::vector<Workload> workloads;
    for (const View object : objects_) {
      Workload workload = workload_of(object, blanked_, claims_);
      if (!workload.pods.empty()) workloads.push_back(std::move(workload));
    }
    beside_gpus_ = std::ranges::any_of(
        workloads, [](const Workload& each) { return each.has_gpus() || each.selects_gpus(); });
    for (const Workload& workload : workloads) lint(workload);
    for (const View object : objects_) {
      if (object.find("kind").text() == "ConfigMap") lint_config_map(object);
    }
    objects_.clear();
    services_.clear();
    claims_.clear();
  }

  void take(View object) {
    if (!object.find("apiVersion").is_scalar() || !object.find("kind").is_scalar()) return;
    if (object.find("kind").text() == "Service" && object.find("apiVersion").text() == "v1") {
      services_.push_back(object);
    }
    if (is_claim(object)) claims_.push_back(object);
    if (!object.find("kind").text().ends_with("List") || !object.find("items").is_list()) {
      objects_.push_back(object);
      return;
    }
    // By aliases a list may hold itself.
    object.find("items").each_item([&](View item) {
      if (!item.find("kind").text().ends_with("List") && objects_.size() < most_items) take(item);
    });
  }

  void lint(const Workload& workload) {
    ++out_.workloads;
    const std::size_t before = out_.findings.size();
    check_workload(
        workload,
        {.file = file_, .source = blanked_, .services = services_, .beside_gpus = beside_gpus_},
        out_.findings, out_.repairs);
    out_.ignored += take_out_annotated(workload, before, out_.findings);
  }

  // Scripts and settings of the work, which anybody may read who may read the object.
  void lint_config_map(View object) {
    Workload workload;
    workload.object = object;
    workload.kind = "ConfigMap";
    workload.name = object.at("metadata.name").text();
    const std::size_t before = out_.findings.size();
    const Evidence nothing;
    const Subject subject{workload,  nothing,       file_,       blanked_,
                          services_, out_.findings, out_.repairs};
    check_config_map(subject);
    out_.ignored += take_out_annotated(workload, before, out_.findings);
  }

  const std::string& file_;
  const TemplateText& blanked_;
  const bool keep_;
  Manifest out_;
  std::vector<yaml::Document> documents_;  // what the views below point into
  std::vector<View> objects_;
  std::vector<View> services_;
  std::vector<View> claims_;
  bool beside_gpus_ = false;  // something in the file asks for GPUs
};

}  // namespace

void check_workload(const Workload& workload, const Around& around, std::vector<Finding>& findings,
                    std::vector<Repair>& repairs) {
  const Evidence evidence = evidence_of(workload);
  const Subject subject{workload,        evidence, around.file, around.source,
                        around.services, findings, repairs};
  check_object(subject);
  check_secrets(subject);
  if (workload.has_gpus() || around.beside_gpus) check_images(subject);
  if (!workload.has_gpus()) return check_runtime_probes(subject);
  for (const auto each : {check_gpus, check_resources, check_shared_memory, check_probes,
                          check_models, check_checkpoints, check_parallel, check_memory,
                          check_environment, check_node_access, check_fields, check_placement}) {
    each(subject);
  }
}

Manifest lint_manifest(std::string_view text, const std::string& file) {
  const TemplateText blanked = without_actions(text);
  Linter linter(file, blanked, text.size() <= most_kept);
  for (const yaml::Piece& piece : yaml::pieces_of(blanked.templated ? blanked.text : text))
    linter.read(piece);
  Manifest manifest = linter.finish();
  sort_findings(manifest.findings);
  // What an alias repeats is told once.
  const auto same = [](const Finding& one, const Finding& other) {
    return one.rule == other.rule && one.message == other.message &&
           one.location->line == other.location->line &&
           one.location->column == other.location->column;
  };
  const auto repeated = std::ranges::unique(manifest.findings, same);
  manifest.findings.erase(repeated.begin(), repeated.end());
  return manifest;
}

}  // namespace stoker::lint::kubernetes
