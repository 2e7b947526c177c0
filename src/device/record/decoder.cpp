#include "device/record/archive.h"
#include "device/record/codec.h"
#include "device/record/kinds.h"

namespace stoker::device::record {

// Fills an event of its type from a record's body.
struct Decoder::Body {
  Decoder& of;
  MonotonicTime told;
  In& in;

  template <typename T>
  void operator()(T& event) {
    Loader(in, of.names_).load(event);
  }
  void operator()(ReadingsTold& event) {
    readings([&](const SeriesKey& key, const Reading& reading) {
      event.readings.push_back({key.target, key.field, reading});
    });
    event.gpu = gpu();
  }
  void operator()(NodeReadings& event) {
    readings([&](const SeriesKey& key, const Reading& reading) {
      event.readings.emplace_back(key.field, reading);
    });
  }
  void operator()(ProcessesTold& event) {
    event.gpu = gpu();
    Before before{told, Nanoseconds{0}};
    event.outcome = read_reading(in, of.names_, of.last_outcome_[event.gpu], before);
    auto& last = of.last_processes_[event.gpu];
    if (in.varint() != 0) Loader(in, of.names_).load(last);
    event.processes = last;
  }
  void operator()(CostsTold& event) {
    event.gpu = gpu();
    event.costs = costs(event.gpu.sysfs());
  }
  void operator()(NodeCosts& event) { event.costs = costs({}); }

  PciAddress gpu() {
    const auto address = PciAddress::parse(name());
    if (!address) in.fail();
    return address.value_or(PciAddress{});
  }
  std::string name() {
    const std::string* found = of.names_.find(in.varint());
    if (found == nullptr) in.fail();
    return found == nullptr ? std::string() : *found;
  }
  template <typename Take>
  void readings(Take take) {
    Before before{told, Nanoseconds{0}};
    std::uint64_t expected = 0;
    for (std::size_t left = in.count(); left > 0 && in.ok(); --left) {
      const std::uint64_t number = expected + static_cast<std::uint64_t>(in.zigzag());
      expected = number + 1;
      if (number >= of.series_.size()) return in.fail();
      Series& series = of.series_[number];
      const Reading reading = read_reading(in, of.names_, series.last, before);
      if (series.known && in.ok()) take(series.key, reading);
    }
  }
  std::vector<CallCost> costs(const std::string& gpu) {
    std::vector<CallCost> all;
    for (std::size_t left = in.count(); left > 0 && in.ok(); --left) {
      const std::string getter = name();
      CallCost& cost = of.costs_.try_emplace({gpu, getter}, CallCost{}).first->second;
      cost.getter = getter_of(getter);
      cost.calls += in.varint();
      cost.total = plus(cost.total, in.zigzag());
      cost.longest = plus(cost.longest, in.zigzag());
      cost.last = Nanoseconds(in.zigzag());
      if (cost.getter != Getter::count_) all.push_back(cost);
    }
    return all;
  }
};

void Decoder::read_series(In& in) {
  for (std::size_t left = in.count(); left > 0 && in.ok(); --left) {
    const std::uint64_t gpu = in.varint();
    const std::string* address = names_.find(gpu);
    const std::string* kind = names_.find(in.varint());
    const std::uint64_t number = in.varint();
    const std::string* name = names_.find(in.varint());
    if ((gpu != 0 && address == nullptr) || kind == nullptr || name == nullptr ||
        number > UINT32_MAX || series_.size() >= max_series) {
      return in.fail();
    }
    Series& added = series_.emplace_back();
    added.key.target = {entity_kind_of(*kind), static_cast<std::uint32_t>(number)};
    added.key.field = field_of(*name);
    if (address != nullptr) {
      const auto parsed = PciAddress::parse(*address);
      if (!parsed) return in.fail();
      added.key.gpu = *parsed;
    }
    added.known = added.key.field != FieldId::count_ && added.key.target.kind != EntityKind::file;
  }
}

std::optional<What> Decoder::read_body(const std::string& kind, In& in, MonotonicTime told) {
  if (kind == series_kind) {
    read_series(in);
    return std::nullopt;
  }
  auto what = empty_of(kind);
  if (what) std::visit(Body{*this, told, in}, *what);
  return what;
}

Result<void> Decoder::read_block(std::string_view bytes, const Tell& tell) {
  const auto corrupt = [] {
    return fail(ErrorCode::corrupt, "a block of the recording does not hold together");
  };
  In in(bytes);
  MonotonicTime told;
  while (!in.empty()) {
    const std::uint64_t number = in.varint();
    if (number == 0) {
      if (!names_.add(in.text()) || !in.ok()) return corrupt();
      continue;
    }
    const std::string* kind = names_.find(number);
    const MonotonicTime before = told;
    told.since_boot = plus(told.since_boot, in.zigzag());
    In body(in.text());
    // Times of events do not fall; one over the end of what a time can be would seem to.
    if (kind == nullptr || !in.ok() || told < before) return corrupt();
    auto what = read_body(*kind, body, told);
    if (!body.ok()) return corrupt();
    if (what) tell({told, std::move(*what)});
  }
  return {};
}

}  // namespace stoker::device::record
