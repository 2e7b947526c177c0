#include "device/nvml/gpu.h"

#include "device/nvml/getters.h"
#include "device/nvml/identity.h"
#include "device/nvml/mig_devices.h"

namespace stoker::nvml {
namespace {

class OpenGpu final : public device::Gpu {
 public:
  explicit OpenGpu(Card card) : card_(std::move(card)) {}

  [[nodiscard]] const device::GpuInfo& info() const override { return card_.info; }

  void read(Getter getter, const std::vector<const Field*>& fields,
            std::vector<device::TargetReading>& out) override {
    const GetterRow* const row = find_getter(getter);
    if (row != nullptr && !fields.empty()) row->read(card_, fields, out);
  }

  Reading processes(std::vector<device::ProcessInfo>& out) override {
    const Reading whole = list_processes(*card_.session, card_.device, out);
    // In MIG mode the GPU's own list needs more rights than those of its parts (nvml-api,
    // nvmlDeviceGetComputeRunningProcesses).
    const bool refused =
        whole.reason == Reason::no_permission || whole.reason == Reason::not_supported;
    if (!refused || card_.mig_devices.empty()) return whole;
    return processes_of_migs(out);
  }

  bool refresh() override { return card_.mig_capable && read_mig_devices(card_); }

 private:
  Reading processes_of_migs(std::vector<device::ProcessInfo>& out) {
    std::vector<device::ProcessInfo> all;
    Nanoseconds took{0};
    Reading last;
    for (std::size_t i = 0; i < card_.mig_devices.size(); ++i) {
      const std::size_t before = all.size();
      last = list_processes(*card_.session, card_.mig_devices[i], all);
      took += last.took;
      if (!last.ok()) return Reading::none(last.reason, last.taken_at, took);
      for (std::size_t j = before; j < all.size(); ++j) {
        all[j].gpu_instance = card_.info.migs[i].gpu_instance;
        all[j].compute_instance = card_.info.migs[i].compute_instance;
      }
    }
    const auto count = static_cast<std::int64_t>(all.size());
    out.insert(out.end(), std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
    return Reading::of(count, last.taken_at, took);
  }

  Card card_;
};

}  // namespace

OpenResult open_gpu(Session& session, abi::Device device, std::uint32_t index,
                    const PciAddress& pci) {
  Card card;
  card.session = &session;
  card.device = device;
  card.info.index = index;
  card.info.pci = pci;
  const abi::Return code = read_identity(card);
  if (code != abi::Return::success) return {nullptr, code, "reading its name and UUID"};
  read_nvlinks(card);
  read_mig_devices(card);
  card.xid = &session.xids.add(device, pci);
  return {std::make_unique<OpenGpu>(std::move(card)), code, ""};
}

}  // namespace stoker::nvml
