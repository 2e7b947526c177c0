// The kernel's OOM killer (Linux, mm/oom_kill.c). A program's own "CUDA out of memory" is no line of the kernel,
// and no event: the GPU's memory was full, not the host's, and nothing was killed.
#include <algorithm>

#include "event/cursor.h"
#include "event/lines.h"

namespace stoker::event {

// "Memory cgroup out of memory: Killed process 23793 (leaker) total-vm:...", "Out of memory: Killed process ...";
// kernels before 5.3 say "Kill process 1 (x) score 900 or sacrifice child", then "Killed process" alone.
std::optional<Event> read_oom(std::string_view text) {
  Cursor cursor(text);
  const bool cgroup = cursor.take("Memory cgroup out of memory: ");
  if (!cgroup && !cursor.take("Out of memory: ")) return std::nullopt;
  if (!cursor.take("Killed process ") && !cursor.take("Kill process ")) return std::nullopt;
  const auto pid = cursor.take_number<std::uint32_t>();
  if (!pid) return std::nullopt;
  Event event{.kind = EventKind::oom,
              .sign = cgroup ? "cgroup_oom" : "host_oom",
              .pid = pid,
              .text = std::string(text)};
  if (cursor.take(" (") || cursor.take(", ")) {
    // A name may hold a parenthesis itself, so the end is what follows it.
    const auto rest = cursor.rest();
    auto end = std::min(rest.find(") total-vm:"), rest.find(") score "));
    if (end == std::string_view::npos) end = rest.rfind(')');
    event.process = rest.substr(0, end);
  }
  for (const std::string_view name : {"total-vm", "anon-rss"}) {
    const auto kib = number_behind<std::uint64_t>(text, std::string(name) + ":");
    if (kib)
      add_detail(event, name == "total-vm" ? "total_vm_kib" : "anon_rss_kib", std::to_string(*kib));
  }
  return event;
}

}  // namespace stoker::event
