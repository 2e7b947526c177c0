#include "device/probe/protocol.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "model/wire.h"

namespace stoker::device::probe {
namespace {

using wire::Reader;
using wire::Writer;

std::string any_text() { return *rc::gen::container<std::string>(rc::gen::arbitrary<char>()); }

PciAddress any_address() {
  return {*rc::gen::arbitrary<std::uint32_t>(), *rc::gen::arbitrary<std::uint8_t>(),
          static_cast<std::uint8_t>(*rc::gen::inRange(0, 32)),
          static_cast<std::uint8_t>(*rc::gen::inRange(0, 8))};
}

MonotonicTime any_time() { return {Nanoseconds(*rc::gen::arbitrary<std::int64_t>())}; }

Reading any_reading() {
  Reading reading;
  reading.reason = static_cast<Reason>(*rc::gen::inRange(0, static_cast<int>(Reason::failed) + 1));
  if (*rc::gen::arbitrary<bool>()) {
    reading.value = *rc::gen::arbitrary<std::int64_t>();
  } else {
    reading.value = static_cast<double>(*rc::gen::arbitrary<std::int32_t>()) / 7;
  }
  reading.taken_at = any_time();
  reading.took = Nanoseconds(*rc::gen::arbitrary<std::int32_t>());
  return reading;
}

GpuInfo any_gpu() {
  GpuInfo gpu;
  gpu.index = *rc::gen::arbitrary<std::uint32_t>();
  gpu.pci = any_address();
  gpu.uuid = any_text();
  gpu.name = any_text();
  gpu.architecture = any_text();
  gpu.numa_node = *rc::gen::arbitrary<int>();
  gpu.memory_node = *rc::gen::arbitrary<int>();
  gpu.memory_bytes = *rc::gen::arbitrary<std::uint64_t>();
  gpu.power_limit_max_watts = *rc::gen::inRange(0, 2000);
  gpu.mig_enabled = *rc::gen::arbitrary<bool>();
  for (int left = *rc::gen::inRange(0, 8); left > 0; --left) {
    gpu.migs.push_back({any_text(), any_text(), 1, 2, 3, 4});
  }
  for (int left = *rc::gen::inRange(0, 19); left > 0; --left) {
    gpu.nvlinks.push_back({static_cast<std::uint32_t>(left), 4, any_text(), LinkEnd::nvswitch});
  }
  return gpu;
}

Readings any_readings() {
  Readings message{any_address(), {}};
  for (int left = *rc::gen::inRange(0, 100); left > 0; --left) {
    message.readings.push_back(
        {{EntityKind::nvlink, *rc::gen::arbitrary<std::uint32_t>()},
         static_cast<FieldId>(*rc::gen::inRange<int>(0, static_cast<int>(field_count))),
         any_reading()});
  }
  return message;
}

Heartbeat any_heartbeat() {
  Heartbeat beat{any_time(), *rc::gen::arbitrary<std::uint64_t>(), {}};
  for (int left = *rc::gen::inRange(0, 17); left > 0; --left) {
    ThreadState thread{ThreadState::Kind::gpu, any_address(), 4, Getter::power_usage, std::nullopt};
    if (*rc::gen::arbitrary<bool>()) thread.since = any_time();
    beat.threads.push_back(thread);
  }
  return beat;
}

Configure any_configure() {
  Configure message;
  message.library = any_text();
  message.scope.no_attach = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) message.scope.only = {{any_address(), any_address()}};
  message.rates.scale = *rc::gen::inRange(1, 100);
  message.rates.demote = *rc::gen::arbitrary<bool>();
  return message;
}

Message any_message() {
  switch (*rc::gen::inRange(0, 11)) {
    case 0: return any_configure();
    case 1: return Leave{};
    case 2: return Hello{*rc::gen::arbitrary<std::uint32_t>()};
    case 3: return InitResult{SourceState::no_permission, any_text()};
    case 4: return DriverTold{{any_text(), any_text(), 13000, true, {any_text(), any_text()}}};
    case 5:
      return Inventory{{any_gpu(), any_gpu()},
                       {{any_address(), 3, Reason::lost, any_text()}},
                       {{2, any_address()}, {5, std::nullopt}}};
    case 6: return any_readings();
    case 7: return Processes{any_address(), any_reading(), {{1, true, true, 5, 6, 7, any_text()}}};
    case 8: return Costs{any_address(), {{Getter::energy, 5, Seconds(1), Seconds(2), Seconds(3)}}};
    case 9: return Xid{any_address(), *rc::gen::arbitrary<std::uint32_t>(), any_time()};
    default: return any_heartbeat();
  }
}

RC_GTEST_PROP(Protocol, GivesBackEveryMessage, ()) {
  const Message message = any_message();
  const std::string bytes = encode(message);
  const auto back = decode(bytes);
  RC_ASSERT(back.has_value());
  RC_ASSERT(back->index() == message.index());
  // Messages have no operator==; equal messages have equal bytes, since there is one way to write.
  RC_ASSERT(encode(*back) == bytes);
}

RC_GTEST_PROP(Protocol, RefusesEveryMessageThatIsCutShortOrHasMoreBehindIt, ()) {
  const std::string bytes = encode(any_message());
  const auto kept = *rc::gen::inRange<std::size_t>(0, bytes.size());
  RC_ASSERT(!decode(std::string_view(bytes).substr(0, kept)).has_value());
  RC_ASSERT(!decode(bytes + '\0').has_value());
}

RC_GTEST_PROP(Protocol, SurvivesEveryChangedByte, ()) {
  std::string bytes = encode(any_message());
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] = *rc::gen::arbitrary<char>();
  const auto back = decode(bytes);
  if (back) RC_ASSERT(encode(*back).size() <= bytes.size());
}

RC_GTEST_PROP(Protocol, WritesReadingsTheSameWithAndWithoutACopy, ()) {
  const Readings message = any_readings();
  RC_ASSERT(encode_readings(message.gpu, message.readings) == encode(message));
}

TEST(Protocol, KeepsEveryFieldOfAGpu) {
  GpuInfo gpu;
  gpu.index = 3;
  gpu.serial = "serial";
  gpu.brand = "brand";
  gpu.vbios = "vbios";
  gpu.board_part = "part";
  gpu.inforom = "inforom";
  gpu.compute_capability = 90;
  gpu.minor = 5;
  gpu.cores = 16896;
  gpu.slowdown_celsius = 89;
  gpu.shutdown_celsius = 95;
  gpu.max_memory_celsius = 95;
  gpu.max_operating_celsius = 87;
  gpu.power_limit_min_watts = 200;
  gpu.power_limit_default_watts = 700;
  gpu.max_sm_clock_mhz = 1980;
  gpu.max_memory_clock_mhz = 2619;
  gpu.max_pcie_generation = 5;
  gpu.max_pcie_width = 16;
  gpu.gpm = true;
  const auto back = decode(encode(Inventory{{gpu}, {}, {}}));
  ASSERT_TRUE(back.has_value());
  const GpuInfo& told = std::get<Inventory>(*back).gpus.at(0);
  EXPECT_EQ(told.serial, gpu.serial);
  EXPECT_EQ(told.brand, gpu.brand);
  EXPECT_EQ(told.vbios, gpu.vbios);
  EXPECT_EQ(told.board_part, gpu.board_part);
  EXPECT_EQ(told.inforom, gpu.inforom);
  EXPECT_EQ(told.compute_capability, gpu.compute_capability);
  EXPECT_EQ(told.minor, gpu.minor);
  EXPECT_EQ(told.cores, gpu.cores);
  EXPECT_EQ(told.slowdown_celsius, gpu.slowdown_celsius);
  EXPECT_EQ(told.shutdown_celsius, gpu.shutdown_celsius);
  EXPECT_EQ(told.max_memory_celsius, gpu.max_memory_celsius);
  EXPECT_EQ(told.max_operating_celsius, gpu.max_operating_celsius);
  EXPECT_EQ(told.power_limit_min_watts, gpu.power_limit_min_watts);
  EXPECT_EQ(told.power_limit_default_watts, gpu.power_limit_default_watts);
  EXPECT_EQ(told.max_sm_clock_mhz, gpu.max_sm_clock_mhz);
  EXPECT_EQ(told.max_memory_clock_mhz, gpu.max_memory_clock_mhz);
  EXPECT_EQ(told.max_pcie_generation, gpu.max_pcie_generation);
  EXPECT_EQ(told.max_pcie_width, gpu.max_pcie_width);
  EXPECT_EQ(told.gpm, gpu.gpm);
}

TEST(Protocol, SaysWhichVersionTheOtherSideSpeaks) {
  std::string bytes = encode(Leave{});
  bytes[4] = static_cast<char>(protocol_version + 1);
  const auto refused = decode(bytes);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_input);
  const std::string told = "version " + std::to_string(protocol_version + 1);
  EXPECT_NE(refused.error().message().find(told), std::string::npos);
}

TEST(Protocol, RefusesANumberThatIsNone) {
  std::string bytes =
      encode(Readings{{}, {{{}, FieldId::power, Reading::of(1.5, MonotonicTime{})}}});
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double value = 1.5;
  const auto at = bytes.find(std::string_view(reinterpret_cast<const char*>(&value), 8));
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 8, reinterpret_cast<const char*>(&none), 8);
  EXPECT_FALSE(decode(bytes).has_value());
}

TEST(Protocol, AllocatesNothingForACountThatLies) {
  Writer out;
  out.count(0xffffffff);
  const std::string bytes = out.take();
  Reader in(bytes);
  EXPECT_EQ(in.count(1), 0U);
  EXPECT_FALSE(in.ok());
}

TEST(Protocol, FitsTheGreatestRoundIntoAPacket) {
  Readings round;
  round.readings.resize(max_readings_per_message);
  for (auto& reading : round.readings) reading.field = FieldId::power;
  EXPECT_LE(encode(round).size(), max_message_bytes);
  Processes list;
  list.processes.resize(max_processes_per_message);
  for (auto& process : list.processes) process.name = "a name of 15 by";
  EXPECT_LE(encode(list).size(), max_message_bytes);
}

}  // namespace
}  // namespace stoker::device::probe
