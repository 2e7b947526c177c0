// What the driver's calls cost without Stoker: a plain loop of the calls that device/nvml makes, on
// the sampler's default schedule, in one thread. CPU time of agent and probe minus this, of the same
// driver in the same run, is what Stoker adds (docs/measurements.md). Not a Google Benchmark: it
// must keep a schedule.
//
//   device_nvml_bench [--library PATH] [--rounds N] [--interval-ms N]
//
// Without --library it takes this build's simulated driver where STOKER_SIM_STATE names a node, else
// the machine's own. A round is one second of the schedule; --interval-ms shortens it.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "catalog/field.h"
#include "device/nvml/abi.h"
#include "device/nvml/library.h"

namespace stoker::nvml {
namespace {

using abi::Functions;

struct Arguments {
  std::string library;
  int rounds = 60;
  Milliseconds interval{1000};
};

// Everything that the loop needs of one card, made before it.
struct BareCard {
  abi::Device device = nullptr;
  std::vector<unsigned> links;
  bool gpm = false;
  abi::GpmSample earlier = nullptr;
  abi::GpmSample later = nullptr;
  std::vector<abi::FieldValue> cheap_values;
  std::vector<abi::FieldValue> firmware_values;
  std::vector<abi::FieldValue> link_values;
  std::unique_ptr<abi::GpmMetricsGet> metrics;       // of every second
  std::unique_ptr<abi::GpmMetricsGet> slow_metrics;  // of the firmware class
  std::vector<std::uint8_t> processes;
};

// A function that this driver lacks is not called, as in the reader.
template <typename... Parameters, typename... Given>
void call(abi::Return (*function)(Parameters...), Given... given) {
  if (function != nullptr) function(given...);
}

void cheap_round(const Functions& nvml, BareCard& card) {
  abi::Device device = card.device;
  unsigned number = 0;
  unsigned second = 0;
  unsigned third = 0;
  unsigned fourth = 0;
  std::uint64_t wide = 0;
  abi::PState state{};
  abi::Utilization rates{};
  abi::MemoryV2 memory{};
  memory.version = abi::version_tag<abi::MemoryV2>(2);
  call(nvml.nvmlDeviceGetClockInfo, device, abi::ClockType::sm, &number);
  call(nvml.nvmlDeviceGetClockInfo, device, abi::ClockType::memory, &number);
  call(nvml.nvmlDeviceGetCurrentClocksEventReasons, device, &wide);
  call(nvml.nvmlDeviceGetFieldValues, device, static_cast<int>(card.cheap_values.size()),
       card.cheap_values.data());
  call(nvml.nvmlDeviceGetTemperature, device, abi::TemperatureSensor::gpu, &number);
  call(nvml.nvmlDeviceGetPowerUsage, device, &number);
  call(nvml.nvmlDeviceGetEnforcedPowerLimit, device, &number);
  call(nvml.nvmlDeviceGetPerformanceState, device, &state);
  call(nvml.nvmlDeviceGetUtilizationRates, device, &rates);
  call(nvml.nvmlDeviceGetEncoderUtilization, device, &number, &second);
  call(nvml.nvmlDeviceGetDecoderUtilization, device, &number, &second);
  call(nvml.nvmlDeviceGetMemoryInfo_v2, device, &memory);
  for (const auto type : {abi::MemoryErrorType::corrected, abi::MemoryErrorType::uncorrected}) {
    call(nvml.nvmlDeviceGetTotalEccErrors, device, type, abi::EccCounterType::volatile_count,
         &wide);
    call(nvml.nvmlDeviceGetTotalEccErrors, device, type, abi::EccCounterType::aggregate_count,
         &wide);
  }
  call(nvml.nvmlDeviceGetRemappedRows, device, &number, &second, &third, &fourth);
  call(nvml.nvmlDeviceGetCurrPcieLinkGeneration, device, &number);
}

void gpm_round(const Functions& nvml, BareCard& card, bool slow_too) {
  if (!card.gpm) return;
  nvml.nvmlGpmSampleGet(card.device, card.later);
  for (abi::GpmMetricsGet* const metrics : {card.metrics.get(), card.slow_metrics.get()}) {
    if (metrics == card.slow_metrics.get() && !slow_too) continue;
    metrics->earlier = card.earlier;
    metrics->later = card.later;
    nvml.nvmlGpmMetricsGet(metrics);
  }
  std::swap(card.earlier, card.later);
}

void firmware_round(const Functions& nvml, BareCard& card) {
  abi::Device device = card.device;
  unsigned number = 0;
  unsigned second = 0;
  abi::MarginTemperatureV1 margin{abi::version_tag<abi::MarginTemperatureV1>(1), 0};
  abi::Bar1Memory bar1{};
  abi::FabricInfoV3 fabric{};
  fabric.version = abi::version_tag<abi::FabricInfoV3>(3);
  abi::EnableState state{};
  abi::EnableState pending{};
  abi::ComputeMode mode{};
  call(nvml.nvmlDeviceGetClockInfo, device, abi::ClockType::video, &number);
  call(nvml.nvmlDeviceGetMarginTemperature, device, &margin);
  call(nvml.nvmlDeviceGetFanSpeed, device, &number);
  call(nvml.nvmlDeviceGetFieldValues, device, static_cast<int>(card.firmware_values.size()),
       card.firmware_values.data());
  call(nvml.nvmlDeviceGetBAR1MemoryInfo, device, &bar1);
  call(nvml.nvmlDeviceGetPcieReplayCounter, device, &number);
  call(nvml.nvmlDeviceGetCurrPcieLinkWidth, device, &number);
  for (const unsigned link : card.links) {
    call(nvml.nvmlDeviceGetNvLinkState, device, link, &state);
  }
  call(nvml.nvmlDeviceGetGpuFabricInfoV, device, static_cast<void*>(&fabric));
  call(nvml.nvmlDeviceGetPersistenceMode, device, &state);
  call(nvml.nvmlDeviceGetComputeMode, device, &mode);
  call(nvml.nvmlDeviceGetEccMode, device, &state, &pending);
  call(nvml.nvmlDeviceGetMigMode, device, &number, &second);
  call(nvml.nvmlDeviceGetMigMode, device, &number, &second);  // the reader's look for MIG devices
}

void process_round(const Functions& nvml, BareCard& card) {
  for (auto* const list : {nvml.nvmlDeviceGetComputeRunningProcesses_v3,
                           nvml.nvmlDeviceGetMPSComputeRunningProcesses_v3,
                           nvml.nvmlDeviceGetGraphicsRunningProcesses_v3}) {
    unsigned count = 32;
    call(list, card.device, &count, static_cast<void*>(card.processes.data()));
  }
}

void dear_round(const Functions& nvml, BareCard& card) {
  std::uint64_t energy = 0;
  call(nvml.nvmlDeviceGetTotalEnergyConsumption, card.device, &energy);
  for (const auto cause :
       {abi::PageRetirementCause::multiple_single_bit, abi::PageRetirementCause::double_bit}) {
    unsigned count = 0;
    call(nvml.nvmlDeviceGetRetiredPages, card.device, cause, &count, nullptr);
  }
  abi::EnableState pending{};
  call(nvml.nvmlDeviceGetRetiredPagesPendingStatus, card.device, &pending);
  abi::VirtualizationMode mode{};
  call(nvml.nvmlDeviceGetVirtualizationMode, card.device, &mode);
  if (!card.link_values.empty()) {
    call(nvml.nvmlDeviceGetFieldValues, card.device, static_cast<int>(card.link_values.size()),
         card.link_values.data());
  }
}

abi::FieldValue asked(std::uint32_t id, std::uint32_t scope) {
  abi::FieldValue value{};
  value.field_id = id;
  value.scope_id = scope;
  return value;
}

void prepare_batches(BareCard& card) {
  card.metrics = std::make_unique<abi::GpmMetricsGet>();
  card.slow_metrics = std::make_unique<abi::GpmMetricsGet>();
  card.metrics->version = card.slow_metrics->version = abi::gpm_metrics_get_version;
  for (const Field& field : all_fields()) {
    if (field.getter == Getter::gpm) {
      abi::GpmMetricsGet& metrics =
          field.cost == CostClass::gpm ? *card.metrics : *card.slow_metrics;
      metrics.metrics[metrics.count++].id = field.argument;
    }
    if (field.getter != Getter::field_value) continue;
    auto& values = field.cost == CostClass::cheap ? card.cheap_values : card.firmware_values;
    const bool over_links = field.argument == 138 || field.argument == 139;
    values.push_back(asked(field.argument, over_links ? 0xFFFFFFFF : 0));
  }
  for (const unsigned link : card.links) {
    for (const std::uint32_t id : {161U, 162U, 163U}) card.link_values.push_back(asked(id, link));
  }
  card.processes.resize(std::size_t{32} * 64);
}

BareCard prepare(const Functions& nvml, unsigned index) {
  BareCard card;
  if (nvml.nvmlDeviceGetHandleByIndex_v2(index, &card.device) != abi::Return::success) return card;
  for (unsigned link = 0; link < abi::max_nvlinks; ++link) {
    abi::EnableState state{};
    if (nvml.nvmlDeviceGetNvLinkState == nullptr) break;
    const abi::Return code = nvml.nvmlDeviceGetNvLinkState(card.device, link, &state);
    if (code == abi::Return::invalid_argument) break;
    if (code == abi::Return::success) card.links.push_back(link);
  }
  prepare_batches(card);
  abi::GpmSupport support{abi::gpm_support_version, 0};
  call(nvml.nvmlGpmQueryDeviceSupport, card.device, &support);
  card.gpm = support.supported != 0 &&
             nvml.nvmlGpmSampleAlloc(&card.earlier) == abi::Return::success &&
             nvml.nvmlGpmSampleAlloc(&card.later) == abi::Return::success &&
             nvml.nvmlGpmSampleGet(card.device, card.earlier) == abi::Return::success;
  return card;
}

double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--library") {
      arguments.library = argv[i + 1];
    } else if (name == "--rounds") {
      arguments.rounds = std::atoi(argv[i + 1]);
    } else if (name == "--interval-ms") {
      arguments.interval = Milliseconds(std::atoi(argv[i + 1]));
    } else {
      return std::nullopt;
    }
  }
  if (argc % 2 == 0 || arguments.rounds < 1) return std::nullopt;
  if (arguments.library.empty() && std::getenv("STOKER_SIM_STATE") != nullptr) {
    arguments.library = STOKER_BINARY_DIR "/lib/libstoker_sim_nvml.so";
  }
  return arguments;
}

void run_round(const Functions& nvml, std::vector<BareCard>& cards, int round) {
  for (BareCard& card : cards) {
    if (round % 10 == 0) firmware_round(nvml, card);
    if (round % 60 == 0) dear_round(nvml, card);
    cheap_round(nvml, card);
    gpm_round(nvml, card, round % 10 == 0);
    if (round % 5 == 0) process_round(nvml, card);
  }
}

int measure(const Functions& nvml, const Arguments& arguments) {
  unsigned count = 0;
  nvml.nvmlDeviceGetCount_v2(&count);
  std::vector<BareCard> cards;
  for (unsigned index = 0; index < count; ++index) {
    BareCard card = prepare(nvml, index);
    if (card.device != nullptr) cards.push_back(std::move(card));
  }
  if (cards.empty()) {
    fmt::print("bare loop: no GPU could be opened\n");
    return 0;
  }
  auto next = std::chrono::steady_clock::now();
  const double before = cpu_us();
  for (int round = 0; round < arguments.rounds; ++round) {
    run_round(nvml, cards, round);
    next += arguments.interval;
    std::this_thread::sleep_until(next);
  }
  const double used = cpu_us() - before;
  fmt::print("bare loop: {} GPUs, {} rounds of {} ms: {:.1f} us CPU a GPU a round\n", cards.size(),
             arguments.rounds, arguments.interval.count(),
             used / (static_cast<double>(cards.size()) * arguments.rounds));
  return 0;
}

int run(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments.has_value()) {
    fmt::print(stderr, "usage: {} [--library PATH] [--rounds N] [--interval-ms N]\n", argv[0]);
    return 2;
  }
  auto library = load_library(arguments->library);
  if (!library.has_value()) {
    fmt::print("bare loop: not measured: {}\n", library.error().text);
    return 0;
  }
  Functions& nvml = library->functions;
  if (const abi::Return code = nvml.nvmlInit_v2(); code != abi::Return::success) {
    fmt::print("bare loop: not measured: {}\n", nvml.nvmlErrorString(code));
    return 0;
  }
  std::array<char, abi::system_version_size> version{};
  nvml.nvmlSystemGetDriverVersion(version.data(), version.size());
  match_abi(version.data(), nvml);
  const int status = measure(nvml, *arguments);
  nvml.nvmlShutdown();
  return status;
}

}  // namespace
}  // namespace stoker::nvml

int main(int argc, char** argv) { return stoker::nvml::run(argc, argv); }
