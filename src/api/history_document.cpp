#include "api/history_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/gpu_name.h"
#include "base/closest.h"
#include "base/duration.h"
#include "base/json_text.h"
#include "net/percent.h"

namespace stoker::api {
namespace {

using history::Answer;
using history::Step;
using store::GpuSnapshot;
using store::Snapshot;

constexpr Nanoseconds longest_span = std::chrono::hours(24 * 7);

Error wrong_query(std::string message) { return {ErrorCode::invalid_input, std::move(message)}; }

Result<FieldId> parse_field(const std::string& name, const history::History& history) {
  std::vector<std::string> kept;
  for (const Field& row : all_fields()) {
    if (history.keeps(row.id)) kept.emplace_back(row.name);
  }
  const auto id = find_field(name);
  if (id && history.keeps(*id)) return *id;
  if (id) {
    return fail(
        wrong_query(fmt::format("no history is kept of {}; it is of: {} (option history.fields)",
                                field(*id).name, fmt::join(kept, ", "))));
  }
  const auto hint = did_you_mean(name, kept);
  return fail(wrong_query(fmt::format("there is no field \"{}\"; {}", name,
                                      hint.empty() ? "`stoker fields` lists them" : hint)));
}

Result<void> take_parameter(std::string_view name, const std::string& value,
                            const history::History& history, HistoryQuestion& question) {
  if (name == "field") {
    auto id = parse_field(value, history);
    if (!id) return fail(id.error());
    question.field = *id;
  } else if (name == "gpu") {
    question.gpu = value;
  } else if (name == "since") {
    const auto since = parse_duration(value);
    if (!since || *since <= Nanoseconds{0} || *since > longest_span) {
      return fail(wrong_query(fmt::format("since={}: a duration up to 7d, e.g. 1h", value)));
    }
    question.since = *since;
  } else if (name == "step") {
    if (value != "reading" && value != "minute") {
      return fail(wrong_query(fmt::format("step={}: reading or minute", value)));
    }
    question.step = value == "reading" ? Step::readings : Step::minutes;
  } else {
    return fail(wrong_query(
        fmt::format("\"{}\" is no parameter of this page: field, gpu, since, step", name)));
  }
  return {};
}

bool is_asked_for(const Answer& answer, const GpuSnapshot* gpu, const std::string& asked) {
  if (asked.empty()) return true;
  if (answer.subject.kind == EntityKind::node) return false;
  return answer.subject.gpu_uuid == asked || answer.subject.mig_uuid == asked ||
         (gpu != nullptr && is_named(gpu->info, asked));
}

void write_value(JsonWriter& json, const std::string& key, const Answer::Value& value, bool range) {
  if (!value.mark.ok()) {
    json.key(key).null();
    json.member(key + "_reason",
                value.mark.watched() ? to_string(value.mark.reason()) : "not_watched");
    return;
  }
  json.member(key, value.mean);
  if (range) json.member(key + "_min", value.least).member(key + "_max", value.most);
}

void write_series(JsonWriter& json, const Answer& answer, const GpuSnapshot* gpu,
                  const Field& field, Step step) {
  const bool of_node = answer.subject.kind == EntityKind::node;
  json.begin_object().member("entity", to_string(answer.subject.kind)).key("gpu");
  if (gpu != nullptr) {
    json.value(gpu->info.index);
  } else {
    json.null();  // the node, or a card that is not here any more
  }
  json.member_or_null("uuid", of_node ? "" : answer.subject.gpu_uuid)
      .member_or_null("mig_uuid", answer.subject.mig_uuid)
      .member("step_seconds", static_cast<double>(answer.step.count()) / 1e9);
  json.key("samples").begin_array();
  for (const Answer::Value& value : answer.values) {
    json.begin_object().member("time", format_utc(value.at));
    write_value(json, field.key(), value, step == Step::minutes);
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace

Result<HistoryQuestion> parse_history_question(std::string_view query,
                                               const history::History& history) {
  HistoryQuestion question;
  std::set<std::string_view> given;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    const auto equals = std::min(part.find('='), part.size());
    const auto value = net::percent_decode(part.substr(std::min(part.size(), equals + 1)));
    if (!value) return fail(value.error());
    if (!given.insert(part.substr(0, equals)).second) {
      return fail(wrong_query(fmt::format("{} is given twice", part.substr(0, equals))));
    }
    if (auto taken = take_parameter(part.substr(0, equals), *value, history, question); !taken) {
      return fail(taken.error());
    }
  }
  if (question.field == FieldId::count_) {
    return fail(wrong_query("which field? e.g. ?field=power&gpu=3&since=1h"));
  }
  return question;
}

Result<std::string> history_document(const Snapshot& snapshot, const history::History& history,
                                     const HistoryQuestion& question) {
  const Field& field = stoker::field(question.field);
  const Step step = question.step.value_or(history.step_for(question.since));
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/history");
  json.member("time", format_utc(snapshot.wall)).member("field", field.name);
  json.member("key", field.key()).member_or_null("unit", key_suffix(field.unit));
  json.member("step", step == Step::readings ? "reading" : "minute");
  json.member("since_seconds", static_cast<double>(question.since.count()) / 1e9);
  json.key("series").begin_array();
  bool found = question.gpu.empty();
  auto answers = history.ask(question.field, question.since, step);
  const auto place = [&snapshot](const Answer& answer) {
    const GpuSnapshot* gpu = store::gpu_with(snapshot, answer.subject.gpu_uuid);
    return std::pair(gpu == nullptr ? UINT32_MAX : gpu->info.index, answer.subject);
  };
  std::ranges::sort(answers, {}, place);
  for (const Answer& answer : answers) {
    const GpuSnapshot* gpu = store::gpu_with(snapshot, answer.subject.gpu_uuid);
    if (!is_asked_for(answer, gpu, question.gpu)) continue;
    write_series(json, answer, gpu, field, step);
    found = true;
  }
  if (!found) {
    return fail(
        ErrorCode::not_found,
        fmt::format("no history of {} for GPU \"{}\": name one by index, UUID or PCI address",
                    field.name, question.gpu));
  }
  json.end_array().end_object();
  return json.text();
}

}  // namespace stoker::api
