#include "device/nvml/driver.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "device/nvml/gpu.h"
#include "device/nvml/look_up_process.h"
#include "device/nvml/open_driver.h"

namespace stoker::nvml {
namespace {

std::string system_text(abi::Return (*function)(char*, unsigned)) {
  std::array<char, abi::system_version_size> buffer{};
  if (function(buffer.data(), buffer.size()) != abi::Return::success) return "";
  buffer.back() = '\0';
  return buffer.data();
}

device::DriverInfo read_info(Session& session) {
  const abi::Functions& nvml = session.nvml();
  device::DriverInfo info;
  info.driver_version = system_text(nvml.nvmlSystemGetDriverVersion);
  info.nvml_version = system_text(nvml.nvmlSystemGetNVMLVersion);
  if (nvml.nvmlSystemGetCudaDriverVersion_v2 != nullptr) {
    nvml.nvmlSystemGetCudaDriverVersion_v2(&info.cuda_version);
  }
  info.simulated = session.library.simulated;
  return info;
}

PciAddress address_of(const abi::PciInfo& pci) {
  return {pci.domain, static_cast<std::uint8_t>(pci.bus), static_cast<std::uint8_t>(pci.device), 0};
}

class OpenDriver final : public Driver {
 public:
  OpenDriver(std::unique_ptr<Session> session, DriverOptions options)
      : session_(std::move(session)), options_(std::move(options)), info_(read_info(*session_)) {
    session_->abi = match_abi(info_.driver_version, session_->library.functions);
    info_.abi_notes.push_back(fmt::format("library {}", session_->library.path));
    info_.abi_notes.push_back(process_list_note());
    info_.abi_notes.insert(info_.abi_notes.end(), session_->abi.notes.begin(),
                           session_->abi.notes.end());
  }
  ~OpenDriver() override {
    session_->xids.stop();
    session_->nvml().nvmlShutdown();
  }
  OpenDriver(const OpenDriver&) = delete;
  OpenDriver& operator=(const OpenDriver&) = delete;

  [[nodiscard]] const device::DriverInfo& info() const override { return info_; }

  tl::expected<std::vector<GpuPlace>, UnopenedGpu> places() override {
    session_->xids.start(session_->nvml(), *session_->clock);
    std::vector<GpuPlace> all;
    all.reserve(options_.only.size());
    for (const PciAddress& pci : options_.only) {
      all.push_back({static_cast<std::uint32_t>(all.size()), pci});
    }
    if (!all.empty()) return all;
    unsigned count = 0;
    const Called counted = timed(*session_->clock, session_->nvml().nvmlDeviceGetCount_v2, &count);
    if (!counted.ok()) return tl::unexpected(unopened({}, counted.code, "counting the GPUs"));
    for (unsigned index = 0; index < count; ++index) all.push_back({index, std::nullopt});
    return all;
  }

  tl::expected<std::unique_ptr<device::Gpu>, UnopenedGpu> open_gpu(const GpuPlace& place) override {
    const abi::Functions& nvml = session_->nvml();
    const Clock& clock = *session_->clock;
    abi::Device device = nullptr;
    const Called got = place.pci
                           ? timed(clock, nvml.nvmlDeviceGetHandleByPciBusId_v2,
                                   place.pci->nvml().c_str(), &device)
                           : timed(clock, nvml.nvmlDeviceGetHandleByIndex_v2, place.index, &device);
    if (!got.ok()) {
      return tl::unexpected(
          unopened(place, got.code, place.pci ? "opening it by address" : "opening it"));
    }
    unsigned index = place.index;
    if (place.pci) timed(clock, nvml.nvmlDeviceGetIndex, device, &index);
    abi::PciInfo address{};
    const Called called = timed(clock, nvml.nvmlDeviceGetPciInfo_v3, device, &address);
    if (!called.ok()) {
      return tl::unexpected(unopened({index, place.pci}, called.code, "reading its PCI address"));
    }
    const PciAddress pci = address_of(address);
    OpenResult result = nvml::open_gpu(*session_, device, index, pci);
    if (result.gpu == nullptr) {
      return tl::unexpected(unopened({index, pci}, result.code, result.what));
    }
    return std::move(result.gpu);
  }

  Result<std::optional<XidEvent>> wait_xid_event(Milliseconds timeout) override {
    return session_->xids.wait(timeout);
  }

 private:
  std::string process_list_note() const {
    constexpr std::string_view symbol = "nvmlDeviceGetComputeRunningProcesses_v3";
    const AbiRow* const row = row_for(symbol, session_->abi.version);
    if (row == nullptr || session_->nvml().nvmlDeviceGetComputeRunningProcesses_v3 == nullptr) {
      return "process lists by _v2 or older";
    }
    return fmt::format(
        "process lists by _v3, {} bytes an entry by the table; derived again from every answer",
        row->size);
  }

  UnopenedGpu unopened(const GpuPlace& place, abi::Return code, const std::string& what) const {
    const std::string name = place.pci ? place.pci->sysfs() : fmt::format("number {}", place.index);
    // A handle that isn't found means a GPU that has left the bus or was taken off it.
    const Reason reason = code == abi::Return::not_found ? Reason::lost : reason_of(code);
    const std::string_view advice =
        reason == Reason::lost ? "; `dmesg | grep Xid` says when and why it went"
        : reason == Reason::no_permission
            ? "; this user needs to read and write its /dev/nvidia<minor>"
            : "";
    return {place.index, place.pci, reason,
            fmt::format("GPU {}: {} failed: {} (NVML error {}){}", name, what,
                        session_->nvml().nvmlErrorString(code), static_cast<int>(code), advice)};
  }

  // Constant once open.
  const std::unique_ptr<Session> session_;
  const DriverOptions options_;
  device::DriverInfo info_;
};

// With NO_ATTACH, 580.159.04 counts no GPU and opens none by address (docs/adr/0004-no-attach.md), so it
// is kept only where a driver does better. Without it, starting opens the device files of all GPUs, and
// attaches none: that comes with each handle.
abi::Return start(const abi::Functions& nvml, bool no_attach) {
  if (no_attach) {
    const abi::Return code =
        nvml.nvmlInitWithFlags(abi::init_flag_no_gpus | abi::init_flag_no_attach);
    unsigned count = 0;
    if (code != abi::Return::success) return code;
    if (nvml.nvmlDeviceGetCount_v2(&count) == abi::Return::success && count > 0) return code;
    nvml.nvmlShutdown();
  }
  return nvml.nvmlInitWithFlags(abi::init_flag_no_gpus);
}

}  // namespace

tl::expected<std::unique_ptr<Driver>, DriverFailure> open_driver(Library library,
                                                                 const DriverOptions& options) {
  const abi::Return code = start(library.functions, options.no_attach);
  if (code != abi::Return::success) {
    return tl::unexpected(
        start_failure(code, library.functions.nvmlErrorString(code), library.path));
  }
  auto session = std::make_unique<Session>();
  session->library = std::move(library);
  session->clock = options.clock;
  session->look_up_process = options.look_up_process;
  if (!session->look_up_process) {
    session->look_up_process = session->library.simulated
                                   ? look_up_in_driver(session->library.functions)
                                   : LookUpProcess(look_up_in_proc);
  }
  return std::make_unique<OpenDriver>(std::move(session), options);
}

tl::expected<std::unique_ptr<Driver>, DriverFailure> Driver::open(const DriverOptions& options) {
  auto library = load_library(options.library);
  if (!library.has_value()) return tl::unexpected(library.error());
  return open_driver(std::move(*library), options);
}

}  // namespace stoker::nvml
