// Edge: /api/v1/fields: the field table, with what each getter has cost lately on this node.
#include <algorithm>
#include <map>

#include "api/documents.h"
#include "export/rdma.h"

namespace stoker::api {
namespace {

using device::CallCost;

std::string_view series_word(Series series) {
  switch (series) {
    case Series::on: return "on";
    case Series::off: return "off";
    case Series::own: return "own";
    case Series::hidden: return "hidden";
  }
  return "hidden";
}

using Costs = std::map<Getter, CallCost>;

void add_costs(Costs& sum, const std::vector<CallCost>& costs) {
  for (const CallCost& cost : costs) {
    CallCost& into = sum.try_emplace(cost.getter, CallCost{.getter = cost.getter}).first->second;
    into.calls += cost.calls;
    into.total += cost.total;
    into.longest = std::max(into.longest, cost.longest);
  }
}

// Of all GPUs together: cards of one node are alike.
Costs sum_of_costs(const store::Snapshot* snapshot) {
  Costs sum;
  if (snapshot == nullptr) return sum;
  for (const auto& gpu : snapshot->gpus) add_costs(sum, gpu.costs);
  add_costs(sum, snapshot->node_costs);
  return sum;
}

double microseconds(Nanoseconds duration) { return static_cast<double>(duration.count()) / 1e3; }

void write_cost(JsonWriter& json, const Costs& costs, const Field& field, bool running) {
  const auto found = costs.find(field.getter);
  if (found != costs.end() && found->second.calls > 0) {
    const CallCost& cost = found->second;
    const auto calls = static_cast<double>(cost.calls);
    json.member("calls", cost.calls)
        .member("call_mean_microseconds", microseconds(cost.total) / calls);
    json.member("call_longest_microseconds", microseconds(cost.longest));
    return;
  }
  // Derived fields follow from others without a call.
  const Reason why = field.getter == Getter::derived ? Reason::not_supported
                     : running                       ? Reason::pending
                                                     : Reason::no_source;
  json.member("calls", 0);
  write_missing(json, "call_mean_microseconds", why);
  write_missing(json, "call_longest_microseconds", why);
}

void write_history(JsonWriter& json, const std::optional<history::HistoryFacts>& facts) {
  if (!facts) return write_missing(json, "history", Reason::no_source);
  const auto seconds = [](Nanoseconds window) { return static_cast<double>(window.count()) / 1e9; };
  json.key("history").begin_object().member("series", facts->series);
  json.member("memory_bytes", facts->bytes).member("memory_limit_bytes", facts->memory_bytes);
  json.member("readings_window_seconds", seconds(facts->readings_window));
  json.member("minutes_window_seconds", seconds(facts->minutes_window));
  json.member("given_up", facts->given_up).end_object();
}

void write_rdma(JsonWriter& json) {
  json.key("rdma_counters").begin_array();
  for (const auto& row : exporting::rdma_series()) {
    json.begin_object()
        .member("counter", row.counter)
        .member("series", row.name)
        .member("times", row.times)
        .member("help", row.help)
        .end_object();
  }
  json.end_array();
}

}  // namespace

std::string fields_document(const store::Snapshot* snapshot,
                            const std::optional<history::HistoryFacts>& history) {
  const Costs costs = sum_of_costs(snapshot);
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/field");
  json.member("measured", snapshot != nullptr);
  write_history(json, history);
  json.key("fields").begin_array();
  for (const Field& field : all_fields()) {
    json.begin_object().member("name", field.name).member("key", field.key());
    json.member("entity", to_string(field.entity)).member_or_null("unit", key_suffix(field.unit));
    json.member("kind", field.kind == FieldKind::counter ? "counter"
                        : field.kind == FieldKind::gauge ? "gauge"
                                                         : "state");
    json.member("getter", to_string(field.getter)).member("cost_class", to_string(field.cost));
    write_cost(json, costs, field, snapshot != nullptr);
    json.member_or_null("dcgm_name", field.dcgm_name)
        .member_or_null("dcgm_alias", field.dcgm_alias);
    if (field.dcgm_id > 0) {
      json.member("dcgm_id", field.dcgm_id);
    } else {
      json.inapplicable("dcgm_id");
    }
    json.member("series", series_word(field.series)).member("help", field.help).end_object();
  }
  json.end_array();
  write_rdma(json);
  json.end_object();
  return json.text();
}

}  // namespace stoker::api
