#include "device/nvml/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

bool contains(const std::vector<PciAddress>& list, const PciAddress& pci) {
  return std::ranges::find(list, pci) != list.end();
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

  OpenedGpus open_gpus() override {
    session_->xids.start(session_->nvml(), *session_->clock);
    OpenedGpus opened;
    if (options_.only.empty()) {
      open_by_index(opened);
    } else {
      open_by_address(opened);
    }
    return opened;
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

  void open_by_index(OpenedGpus& opened) {
    const abi::Functions& nvml = session_->nvml();
    unsigned count = 0;
    const abi::Return code = nvml.nvmlDeviceGetCount_v2(&count);
    if (code != abi::Return::success) {
      opened.unopened.push_back(unopened(0, std::nullopt, code, "counting the GPUs"));
    }
    for (unsigned index = 0; index < count; ++index) {
      abi::Device device = nullptr;
      const abi::Return got = nvml.nvmlDeviceGetHandleByIndex_v2(index, &device);
      if (got != abi::Return::success) {
        opened.unopened.push_back(unopened(index, std::nullopt, got, "opening it"));
        continue;
      }
      open_one(device, index, opened);
    }
  }

  void open_by_address(OpenedGpus& opened) {
    const abi::Functions& nvml = session_->nvml();
    for (std::uint32_t place = 0; place < options_.only.size(); ++place) {
      const PciAddress& pci = options_.only[place];
      if (contains(options_.excluded, pci)) continue;
      abi::Device device = nullptr;
      const abi::Return got = nvml.nvmlDeviceGetHandleByPciBusId_v2(pci.nvml().c_str(), &device);
      if (got != abi::Return::success) {
        opened.unopened.push_back(unopened(place, pci, got, "opening it by address"));
        continue;
      }
      unsigned index = place;
      if (nvml.nvmlDeviceGetIndex != nullptr) nvml.nvmlDeviceGetIndex(device, &index);
      open_one(device, index, opened);
    }
  }

  void open_one(abi::Device device, std::uint32_t index, OpenedGpus& opened) {
    abi::PciInfo address{};
    const Called called =
        timed(*session_->clock, session_->nvml().nvmlDeviceGetPciInfo_v3, device, &address);
    if (!called.ok()) {
      opened.unopened.push_back(
          unopened(index, std::nullopt, called.code, "reading its PCI address"));
      return;
    }
    const PciAddress pci = address_of(address);
    if (contains(options_.excluded, pci)) return;
    OpenResult result = open_gpu(*session_, device, index, pci);
    if (result.gpu == nullptr) {
      opened.unopened.push_back(unopened(index, pci, result.code, result.what));
      return;
    }
    opened.gpus.push_back(std::move(result.gpu));
  }

  UnopenedGpu unopened(std::uint32_t index, std::optional<PciAddress> pci, abi::Return code,
                       const std::string& what) const {
    const std::string name = pci.has_value() ? pci->sysfs() : fmt::format("number {}", index);
    // A handle that isn't found means a GPU that has left the bus or was taken off it.
    const Reason reason = code == abi::Return::not_found ? Reason::lost : reason_of(code);
    const std::string_view advice =
        reason == Reason::lost ? "; `dmesg | grep Xid` says when and why it went"
        : reason == Reason::no_permission
            ? "; this user needs to read and write its /dev/nvidia<minor>"
            : "";
    return {index, pci, reason,
            fmt::format("GPU {}: {} failed: {} (NVML error {}){}", name, what,
                        session_->nvml().nvmlErrorString(code), static_cast<int>(code), advice)};
  }

  // Constant once open.
  const std::unique_ptr<Session> session_;
  const DriverOptions options_;
  device::DriverInfo info_;
};

// With NO_ATTACH, 580.159.04 counts no GPU and opens none by address (NOT_FOUND, two H200), so it is
// kept only where a driver does better. Without it, starting opens the device files of all GPUs, and
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
