#include "lint/kubernetes/live.h"

#include "base/json_text.h"
#include "lint/kubernetes/annotations.h"
#include "lint/kubernetes/field_path.h"
#include "lint/kubernetes/subject.h"

namespace stoker::lint::kubernetes {
namespace {

using yaml::View;

// From a place in a text to the field of an object.
void put_in_object(View object, Finding& finding) {
  const auto place = finding.location.value_or(FileLocation{});
  finding.field = field_path_of(object, {place.line, place.column});
  finding.location.reset();
  finding.entity = object_entity(object);
}

}  // namespace

void LiveLinter::add_service(View service) {
  const View selector = service.at("spec.selector");
  if (!selector.is_map()) return;
  JsonWriter kept;
  kept.begin_object().key("spec").begin_object().key("selector").begin_object();
  selector.each_entry([&](View key, View value) { kept.member(key.text(), value.text()); });
  kept.end_object().end_object().end_object();
  texts_.push_back(kept.text());
  auto document = yaml::Document::parse({texts_.back(), 1}, "service");
  if (!document) return;
  documents_.push_back(*std::move(document));
  services_[std::string(service.at("metadata.namespace").text())].push_back(
      documents_.back().root());
}

LiveFindings LiveLinter::lint(View object) const {
  LiveFindings out;
  const Workload workload = workload_of(object, {});
  if (workload.pods.empty()) return out;
  out.workload = true;
  static const std::vector<View> none;
  const auto services = services_.find(object.at("metadata.namespace").text());
  const TemplateText whole;
  std::vector<Repair> repairs;  // nobody patches an object here
  check_workload(workload,
                 {.file = "",
                  .source = whole,
                  .services = services == services_.end() ? none : services->second},
                 out.findings, repairs);
  out.ignored = take_out_annotated(workload, 0, out.findings);
  for (Finding& finding : out.findings) put_in_object(object, finding);
  sort_findings(out.findings);
  return out;
}

std::string object_id(View object) {
  const auto space = object.at("metadata.namespace").text();
  return fmt::format("{}{}{}/{}", space, space.empty() ? "" : "/", object.find("kind").text(),
                     object.at("metadata.name").text());
}

Entity object_entity(View object) { return {EntityKind::object, object_id(object)}; }

}  // namespace stoker::lint::kubernetes
