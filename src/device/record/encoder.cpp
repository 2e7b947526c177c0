#include "device/record/archive.h"
#include "device/record/codec.h"
#include "device/record/kinds.h"

namespace stoker::device::record {
namespace {

std::int64_t added(Nanoseconds now, Nanoseconds before) {
  return wrapped_difference(now.count(), before.count());
}

}  // namespace

// One event's body, by its type.
struct Encoder::Body {
  Encoder& to;
  MonotonicTime told;
  Out out;

  template <typename T>
  void operator()(const T& event) {
    Saver(out, to.names_).save(event);
  }
  void operator()(const ReadingsTold& event) {
    Before before{told, Nanoseconds{0}};
    std::size_t expected = 0;
    out.varint(event.readings.size());
    for (const TargetReading& each : event.readings) {
      put({event.gpu, each.target, each.field}, each.reading, before, expected);
    }
    // Read with the series; written so that an empty batch, too, has its GPU.
    out.varint(to.names_.number_of(event.gpu.sysfs()));
  }
  void operator()(const NodeReadings& event) {
    Before before{told, Nanoseconds{0}};
    std::size_t expected = 0;
    out.varint(event.readings.size());
    for (const auto& [field, reading] : event.readings) {
      put({std::nullopt, {EntityKind::node, 0}, field}, reading, before, expected);
    }
  }
  void operator()(const ProcessesTold& event) {
    out.varint(to.names_.number_of(event.gpu.sysfs()));
    Before before{told, Nanoseconds{0}};
    write_reading(out, to.names_, event.outcome, to.last_outcome_[event.gpu], before);
    Out list;
    Saver(list, to.names_).save(event.processes);
    std::string& last = to.last_processes_[event.gpu];
    const bool changed = list.bytes() != last;
    out.varint(changed ? 1 : 0);
    if (!changed) return;
    out.raw(list.bytes());
    last = list.take();
  }
  void operator()(const CostsTold& event) {
    const std::string gpu = event.gpu.sysfs();
    out.varint(to.names_.number_of(gpu));
    put(gpu, event.costs);
  }
  void operator()(const NodeCosts& event) { put({}, event.costs); }

  void put(const SeriesKey& key, const Reading& reading, Before& before, std::size_t& expected) {
    const std::size_t series = to.series_of(key);
    // Batches mostly tell their series in the same order.
    out.zigzag(static_cast<std::int64_t>(series) - static_cast<std::int64_t>(expected));
    expected = series + 1;
    write_reading(out, to.names_, reading, to.last_[series], before);
  }
  void put(const std::string& gpu, const std::vector<CallCost>& costs) {
    out.varint(costs.size());
    for (const CallCost& cost : costs) {
      const char* getter = to_string(cost.getter);
      CallCost& last = to.costs_.try_emplace({gpu, getter}, CallCost{}).first->second;
      out.varint(to.names_.number_of(getter));
      out.varint(cost.calls - last.calls);
      out.zigzag(added(cost.total, last.total));
      out.zigzag(added(cost.longest, last.longest));
      out.zigzag(cost.last.count());
      last = cost;
    }
  }
};

std::size_t Encoder::series_of(const SeriesKey& key) {
  const auto [at, is_new] = series_.try_emplace(key, last_.size());
  if (is_new) {
    last_.emplace_back();
    const std::string_view name =
        key.field < FieldId::count_ ? field(key.field).name : std::string_view("unknown");
    new_series_.varint(key.gpu ? names_.number_of(key.gpu->sysfs()) : 0);
    new_series_.varint(names_.number_of(to_string(key.target.kind)));
    new_series_.varint(key.target.number);
    new_series_.varint(names_.number_of(name));
    ++new_series_count_;
  }
  return at->second;
}

void Encoder::record(std::string_view kind, MonotonicTime told, std::string_view body) {
  const std::uint64_t number = names_.number_of(kind);
  for (const std::string& name : names_.fresh()) {
    block_.varint(0);
    block_.text(name);
  }
  block_.varint(number);
  block_.zigzag((told - told_).count());
  told_ = told;
  block_.text(body);
}

bool Encoder::add(const Event& event) {
  if (last_.size() >= max_series - 4096 || names_.full()) return false;
  if (std::holds_alternative<Begin>(event.what)) name_end();
  Body body{*this, event.told, {}};
  std::visit(body, event.what);
  if (new_series_count_ > 0) {
    Out list;
    list.varint(new_series_count_);
    list.raw(new_series_.take());
    new_series_count_ = 0;
    record(series_kind, event.told, list.bytes());
  }
  record(kind_of(event.what), event.told, body.out.bytes());
  return true;
}

void Encoder::name_end() {
  Out unused;
  Saver(unused, names_).save(End{});
  names_.number_of(kind_of(End{}));
}

std::string Encoder::take_block() {
  told_ = MonotonicTime{};
  return block_.take();
}

}  // namespace stoker::device::record
