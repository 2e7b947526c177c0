#include "device/probe/parts.h"

#include <cmath>
#include <string>
#include <vector>

#include "device/members.h"

namespace stoker::device::probe {
namespace {

// The fewest bytes that one element of a list takes, for Reader::count.
template <typename T>
constexpr std::size_t smallest = 1;
template <>
constexpr std::size_t smallest<std::string> = 2;
template <>
constexpr std::size_t smallest<MigInfo> = 24;
template <>
constexpr std::size_t smallest<NvLinkInfo> = 12;

// The two archives of device/members.h: both ends are of one build, so names are left out.
struct Printing {
  Writer& out;

  template <typename T>
  void operator()(std::string_view /*name*/, const T& value) {
    print(value);
  }

 private:
  template <PlainNumber T>
  void print(const T& value) {
    out.number(value);
  }
  void print(const bool& value) { out.flag(value); }
  void print(const std::string& value) { out.text(value); }
  void print(const PciAddress& value) { out.address(value); }
  void print(const LinkEnd& value) { out.word(value); }
  void print(const MigInfo& value) { members(*this, value); }
  void print(const NvLinkInfo& value) { members(*this, value); }
  template <typename T>
  void print(const std::vector<T>& list) {
    out.count(list.size());
    for (const T& element : list) print(element);
  }
};

struct Parsing {
  Reader& in;

  template <typename T>
  void operator()(std::string_view /*name*/, T& value) {
    parse(value);
  }

 private:
  template <PlainNumber T>
  void parse(T& value) {
    value = in.number<T>();
  }
  void parse(bool& value) { value = in.flag(); }
  void parse(std::string& value) { value = in.text(); }
  void parse(PciAddress& value) { value = in.address(); }
  void parse(LinkEnd& value) { value = in.word(LinkEnd::other); }
  void parse(MigInfo& value) { members(*this, value); }
  void parse(NvLinkInfo& value) { members(*this, value); }
  template <typename T>
  void parse(std::vector<T>& list) {
    for (std::size_t left = in.count(smallest<T>); left > 0 && in.ok(); --left) {
      parse(list.emplace_back());
    }
  }
};

template <typename T>
void print(Writer& out, const T& value) {
  Printing archive{out};
  members(archive, value);
}

template <typename T>
T parse(Reader& in) {
  T value;
  Parsing archive{in};
  members(archive, value);
  return value;
}

}  // namespace

void write_plain_reading(Writer& out, const Reading& reading) {
  out.word(reading.reason);
  const auto* whole = std::get_if<std::int64_t>(&reading.value);
  out.flag(whole != nullptr);
  if (whole != nullptr) {
    out.number(*whole);
  } else {
    out.number(std::get<double>(reading.value));
  }
  out.time(reading.taken_at);
  out.duration(reading.took);
}

Reading read_plain_reading(Reader& in) {
  Reading reading;
  reading.reason = in.word(Reason::failed);
  if (in.flag()) {
    reading.value = in.number<std::int64_t>();
  } else {
    reading.value = in.number<double>();
    // NaN and infinities are no values (model/reading.h); a reader that sends one is broken.
    if (!std::isfinite(std::get<double>(reading.value))) in.fail();
  }
  reading.taken_at = in.time();
  reading.took = in.duration();
  return reading;
}

void write_reading(Writer& out, const TargetReading& reading) {
  out.word(reading.target.kind);
  out.number(reading.target.number);
  out.word(reading.field);
  write_plain_reading(out, reading.reading);
}

TargetReading read_reading(Reader& in) {
  TargetReading reading;
  reading.target.kind = in.word(EntityKind::file);
  reading.target.number = in.number<std::uint32_t>();
  reading.field = in.word(static_cast<FieldId>(field_count - 1));
  reading.reading = read_plain_reading(in);
  return reading;
}

void write_process(Writer& out, const ProcessInfo& process) { print(out, process); }
ProcessInfo read_process(Reader& in) { return parse<ProcessInfo>(in); }

void write_cost(Writer& out, const CallCost& cost) {
  out.word(cost.getter);
  out.number(cost.calls);
  out.duration(cost.total);
  out.duration(cost.longest);
  out.duration(cost.last);
}

CallCost read_cost(Reader& in) {
  CallCost cost{};
  cost.getter = in.word(static_cast<Getter>(static_cast<int>(Getter::count_) - 1));
  cost.calls = in.number<std::uint64_t>();
  cost.total = in.duration();
  cost.longest = in.duration();
  cost.last = in.duration();
  return cost;
}

void write_driver(Writer& out, const DriverInfo& driver) { print(out, driver); }
DriverInfo read_driver(Reader& in) { return parse<DriverInfo>(in); }

void write_gpu(Writer& out, const GpuInfo& gpu) { print(out, gpu); }
GpuInfo read_gpu(Reader& in) { return parse<GpuInfo>(in); }

}  // namespace stoker::device::probe
