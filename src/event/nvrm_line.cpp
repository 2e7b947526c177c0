// Lines of NVIDIA's driver that mean a fault and have no Xid number: a card may be dead with nothing else in
// the log (kubernetes-sigs/dra-driver-nvidia-gpu#982: a GB200 with RESET_REQUIRED asserts alone).
#include <array>

#include "base/text.h"
#include "event/cursor.h"
#include "event/lines.h"

namespace stoker::event {
namespace {

struct NvrmForm {
  std::string_view words;  // somewhere in the line
  std::string_view also;   // and these; empty: nothing more
  std::string_view sign;   // catalog/kernel_signs.def
  EventKind kind = EventKind::nvrm;
};

// The first that fits counts.
// Forms: open-gpu-kernel-modules osinit.c, nv.c, kernel_gsp.c, gpu.c; seen in its issues 1064 and 1125.
constexpr std::array<NvrmForm, 9> nvrm_forms = {{
    {"fallen off the bus", "", "off_bus"},
    {"RmInitAdapter failed!", "", "init_failed"},
    {"rm_init_adapter failed", "", "init_failed"},
    {"RmInitAdapter: Cannot initialize GSP", "", "gsp_init_failed"},
    {"NV_ERR_RESET_REQUIRED", "Assertion failed", "reset_required"},
    {"_kgspIsHeartbeatTimedOut", "timed out", "gsp_heartbeat"},
    {"GSP RM heartbeat timed out", "", "gsp_heartbeat"},
    {"ncorrectable ECC error has been detected", "", "gpu_ecc_uncorrected", EventKind::ecc},
    {"ncorrectable double bit error", "", "gpu_ecc_uncorrected", EventKind::ecc},
}};

bool has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

// "GPU 0000:18:00.0: ...", "GPU at PCI:0000:18:00 ...", "GPU0 ...", "GPU-0000:3b:00: ..."; the last is
// seen in logs of old branches.
void read_gpu(Cursor cursor, Event& event) {
  if (!cursor.take("GPU")) return;
  cursor.take("-");
  if (cursor.take(" ")) {
    cursor.take("at ");
  } else if (const auto instance = Cursor(cursor).take_number<std::uint32_t>();
             instance && !leading_pci(cursor.rest())) {
    add_detail(event, "driver_gpu", std::to_string(*instance));
    return;
  }
  event.pci = leading_pci(cursor.rest());
}

// "(0x24:0x65:1185)"
void read_init_codes(std::string_view text, Event& event) {
  auto cursor = behind(text, "failed! (");
  if (!cursor) return;
  if (const auto codes = cursor->take_until(")")) add_detail(event, "init_codes", *codes);
}

}  // namespace

std::optional<Event> read_nvrm(std::string_view text) {
  Cursor cursor(text);
  if (!cursor.take("NVRM: ")) return std::nullopt;
  for (const auto& form : nvrm_forms) {
    if (!has(text, form.words) || !has(text, form.also)) continue;
    Event event{.kind = form.kind, .sign = std::string(form.sign), .text = std::string(text)};
    read_gpu(cursor, event);
    read_init_codes(text, event);
    return event;
  }
  return std::nullopt;
}

}  // namespace stoker::event
