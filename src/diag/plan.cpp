#include "diag/plan.h"

#include <concepts>
#include <optional>
#include <type_traits>

#include "model/wire.h"

namespace stoker::diag {
namespace {

// Both ends are the same build: the magic number changes with the members.
constexpr std::uint32_t plan_magic = 0x53544405;

template <typename T, typename Struct>
concept PlanPart = std::same_as<std::remove_const_t<T>, Struct>;

// The greatest value of each enumeration that is told.
constexpr Step last_of(Step /*step*/) { return Step::count_; }
constexpr Outcome last_of(Outcome /*outcome*/) { return Outcome::hindered; }

class PlanWriter {
 public:
  template <typename... T>
  void operator()(T&... values) {
    (put(values), ...);
  }
  wire::Writer out;

 private:
  template <wire::PlainNumber T>
  void put(const T& number) {
    out.number(number);
  }
  void put(const bool& flag) { out.flag(flag); }
  void put(const std::string& text) { out.text(text); }
  void put(const MonotonicTime& time) { out.time(time); }
  template <typename T>
    requires std::is_enum_v<T>
  void put(const T& value) {
    out.word(value);
  }
  template <typename T>
  void put(const std::vector<T>& all) {
    out.count(all.size());
    for (const auto& one : all) put(one);
  }
  template <typename T>
  void put(const std::optional<T>& value) {
    out.flag(value.has_value());
    if (value) put(*value);
  }
  template <typename T>
  void put(const T& value) {
    plan_members(*this, value);
  }
};

class PlanReader {
 public:
  explicit PlanReader(std::string_view bytes) : in(bytes) {}
  template <typename... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  wire::Reader in;

 private:
  template <wire::PlainNumber T>
  void get(T& number) {
    number = in.number<T>();
  }
  void get(bool& flag) { flag = in.flag(); }
  void get(std::string& text) { text = in.text(); }
  void get(MonotonicTime& time) { time = in.time(); }
  template <typename T>
    requires std::is_enum_v<T>
  void get(T& value) {
    value = in.word(last_of(T{}));
  }
  template <typename T>
  void get(std::vector<T>& all) {
    const std::size_t count = in.count(1);
    for (std::size_t i = 0; i < count && in.ok(); ++i) get(all.emplace_back());
  }
  template <typename T>
  void get(std::optional<T>& value) {
    if (in.flag()) get(value.emplace());
  }
  template <typename T>
  void get(T& value) {
    plan_members(*this, value);
  }
};

template <typename Archive, PlanPart<CardName> T>
void plan_members(Archive& archive, T& name) {
  archive(name.index, name.uuid);
}
template <typename Archive, PlanPart<CardFacts> T>
void plan_members(Archive& archive, T& facts) {
  archive(facts.index, facts.uuid, facts.name, facts.pci, facts.compute_capability,
          facts.multiprocessors, facts.shared_bytes, facts.memory_bytes, facts.simulated);
}
template <typename Archive, PlanPart<StuckBit> T>
void plan_members(Archive& archive, T& stuck) {
  archive(stuck.word, stuck.bit, stuck.value);
}
template <typename Archive, PlanPart<HostRates> T>
void plan_members(Archive& archive, T& rates) {
  archive(rates.memory, rates.general, rates.tensor, rates.pcie, rates.link);
}
template <typename Archive, PlanPart<HostFaults> T>
void plan_members(Archive& archive, T& faults) {
  archive(faults.stuck_bit, faults.wrong_multiprocessor, faults.slow_memory, faults.slow_pcie,
          faults.slow_link, faults.slow_tensor, faults.no_memory, faults.no_peer, faults.dead,
          faults.hangs, faults.no_nccl, faults.nccl_refuses, faults.nccl_rests, faults.nccl_hangs,
          faults.nccl_wrong);
}
template <typename Archive, PlanPart<HostCardOptions> T>
void plan_members(Archive& archive, T& card) {
  archive(card.facts, card.rates, card.faults);
}
template <typename Archive, PlanPart<Plan> T>
void plan_members(Archive& archive, T& plan) {
  archive(plan.cards, plan.steps, plan.injection.bit_flips, plan.injection.wrong_multiprocessor,
          plan.memory_share, plan.load_seconds, plan.ends_within_seconds, plan.simulated);
}
template <typename Archive, PlanPart<Opened> T>
void plan_members(Archive& archive, T& opened) {
  archive(opened.notes, opened.unopened);
}
template <typename Archive, PlanPart<Began> T>
void plan_members(Archive& archive, T& began) {
  archive(began.gpu, began.step);
}
template <typename Archive, PlanPart<Measurement> T>
void plan_members(Archive& archive, T& one) {
  archive(one.test, one.gpu, one.peer, one.outcome, one.value, one.unit, one.reason, one.details,
          one.began, one.ended);
}
template <typename Archive, PlanPart<Ended> T>
void plan_members(Archive& archive, T& ended) {
  archive(ended.problem);
}

template <std::size_t index = 0>
bool read_alternative(std::size_t kind, PlanReader& reader, Message& out) {
  if constexpr (index < std::variant_size_v<Message>) {
    if (kind != index) return read_alternative<index + 1>(kind, reader, out);
    std::variant_alternative_t<index, Message> value;
    plan_members(reader, value);
    out = std::move(value);
    return reader.in.done();
  } else {
    return false;
  }
}

}  // namespace

std::string encode(const Message& message) {
  PlanWriter writer;
  const std::uint32_t magic = plan_magic;
  const auto kind = static_cast<std::uint32_t>(message.index());
  writer(magic, kind);
  std::visit([&writer](const auto& value) { plan_members(writer, value); }, message);
  return writer.out.take();
}

Result<Message> decode(std::string_view bytes) {
  PlanReader reader(bytes);
  const auto magic = reader.in.number<std::uint32_t>();
  const auto kind = reader.in.number<std::uint32_t>();
  Message out;
  if (magic == plan_magic && read_alternative(kind, reader, out)) return out;
  return fail(ErrorCode::corrupt, "not a message of this build's diagnostics");
}

}  // namespace stoker::diag
