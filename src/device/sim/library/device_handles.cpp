// Simulated library: how a caller comes by a handle, and which place a handle has.
#include "device/sim/library/gate.h"
#include "device/sim/library/mig_places.h"
#include "device/sim/library/pci_text.h"

namespace stoker::sim {
namespace {

Return count(const Function& function, unsigned* device_count) {
  return on_system(function, device_count != nullptr, [&](const SystemView& view) {
    *device_count = static_cast<unsigned>(view.session.rows.size());
    return Return::success;
  });
}

Return by_index(const Function& function, unsigned index, Device* device) {
  return on_lookup(
      function, true, Return::invalid_argument,
      [&](const SystemView& view) {
        const auto& rows = view.session.rows;
        return Place{index < rows.size() ? rows[index] : no_row, no_row, no_row};
      },
      device);
}

// The first GPU of the session that `matches` says yes to.
template <typename Matches>
Place find_gpu(const SystemView& view, Matches matches) {
  for (const std::uint32_t row : view.session.rows) {
    if (matches(view.state.gpus[row])) return Place{row, no_row, no_row};
  }
  return {};
}

Return by_bus_id(const Function& function, const char* text, Device* device) {
  const auto wanted = text == nullptr ? std::nullopt : parse_bus_id(text);
  return on_lookup(
      function, wanted.has_value(), Return::not_found,
      [&](const SystemView& view) {
        return find_gpu(view, [&](const Gpu& gpu) {
          return BusAddress{gpu.pci.domain, gpu.pci.bus, gpu.pci.device} == *wanted;
        });
      },
      device);
}

Place find_mig(const SystemView& view, std::string_view uuid) {
  for (const std::uint32_t row : view.session.rows) {
    for (const Place& place : mig_devices(view.state.gpus[row], row)) {
      if (text_of(compute_at(view.state, place).uuid) == uuid) return place;
    }
  }
  return {};
}

}  // namespace

extern "C" {

Return nvmlDeviceGetCount_v2(unsigned* device_count) { return count(fn(__func__), device_count); }
Return nvmlDeviceGetCount(unsigned* device_count) { return count(fn(__func__), device_count); }

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  return by_index(fn(__func__), index, device);
}

Return nvmlDeviceGetHandleByIndex(unsigned index, Device* device) {
  return by_index(fn(__func__), index, device);
}

Return nvmlDeviceGetHandleByPciBusId_v2(const char* pci_bus_id, Device* device) {
  return by_bus_id(fn(__func__), pci_bus_id, device);
}

Return nvmlDeviceGetHandleByPciBusId(const char* pci_bus_id, Device* device) {
  return by_bus_id(fn(__func__), pci_bus_id, device);
}

Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  return on_lookup(
      fn(__func__), uuid != nullptr, Return::not_found,
      [&](const SystemView& view) {
        const Place gpu =
            find_gpu(view, [&](const Gpu& row) { return text_of(row.identity.uuid) == uuid; });
        return gpu.gpu != no_row ? gpu : find_mig(view, uuid);
      },
      device);
}

Return nvmlDeviceGetHandleBySerial(const char* serial, Device* device) {
  return on_lookup(
      fn(__func__), serial != nullptr, Return::not_found,
      [&](const SystemView& view) {
        return find_gpu(view,
                        [&](const Gpu& row) { return text_of(row.identity.serial) == serial; });
      },
      device);
}

Return nvmlDeviceGetIndex(Device device, unsigned* index) {
  return tell(
      fn(__func__), device, index,
      [](const View& view) {
        if (view.place.is_mig()) return mig_index(view.gpu, view.place);
        std::uint32_t found = 0;
        while (view.session.rows[found] != view.place.gpu) ++found;
        return found;
      },
      Takes::gpu_or_mig);
}

Return nvmlDeviceGetMinorNumber(Device device, unsigned* minor_number) {
  return tell(fn(__func__), device, minor_number,
              [](const View& view) { return view.gpu.identity.minor; });
}

}  // extern "C"
}  // namespace stoker::sim
