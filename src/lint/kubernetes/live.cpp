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
  // What is missing in an item of a list is told at its name: the item is meant.
  constexpr std::string_view name_of_item = "].name";
  if (finding.field.ends_with(name_of_item)) finding.field.resize(finding.field.size() - 5);
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
  keep(kept.text(), service, services_);
}

void LiveLinter::add_claim(View claim, std::string_view text) {
  if (!claim.at("metadata.ownerReferences").exists()) keep(std::string(text), claim, claims_);
}

void LiveLinter::keep(std::string text, View object, Kept& kept) {
  texts_.push_back(std::move(text));
  auto document = yaml::Document::parse({texts_.back(), 1}, "object");
  if (!document) return;
  documents_.push_back(*std::move(document));
  kept[std::string(object.at("metadata.namespace").text())].push_back(documents_.back().root());
}

const std::vector<View>& LiveLinter::kept_in(const Kept& kept, View object) {
  static const std::vector<View> none;
  const auto found = kept.find(object.at("metadata.namespace").text());
  return found == kept.end() ? none : found->second;
}

LiveFindings LiveLinter::lint(View object) const {
  LiveFindings out;
  const TemplateText whole;
  const Workload workload = workload_of(object, whole, kept_in(claims_, object));
  if (workload.pods.empty()) return out;
  out.workload = true;
  std::vector<Repair> repairs;  // nobody patches an object here
  check_workload(workload, {.file = "", .source = whole, .services = kept_in(services_, object)},
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
