#include "incident/signal.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "catalog/xid.h"
#include "event/judgement.h"
#include "health/expected.h"
#include "health/gpu_view.h"
#include "health/recovery.h"

namespace stoker::incident {
namespace {

std::string owner_words(const ProcessOwner& owner) {
  // A process's cgroup tells its pod's uid alone, where the kubelet does not tell the name.
  if (owner.pod && !owner.pod->pod.empty()) {
    return fmt::format("pod {}/{}", owner.pod->pod_namespace, owner.pod->pod);
  }
  if (owner.pod && !owner.pod->pod_uid.empty()) return "pod " + owner.pod->pod_uid;
  if (owner.job)
    return fmt::format("job {}", owner.job->array.empty() ? owner.job->id : owner.job->array);
  return owner.user.empty() ? std::string() : fmt::format("user {}", owner.user);
}

std::string program_of(std::uint32_t pid, const NodeView& node) {
  const auto owner = node.owners.find(pid);
  return owner == node.owners.end() ? fmt::format("pid {}", pid) : owner->second;
}

void add_once(std::vector<std::string>& all, std::string one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
}

const NodeView::Gpu* find_gpu(const NodeView& node, const PciAddress& pci) {
  const auto found = std::ranges::find(node.gpus, pci, &NodeView::Gpu::pci);
  return found == node.gpus.end() ? nullptr : &*found;
}

void be_about_gpu(Signal& signal, const NodeView::Gpu& gpu) {
  signal.pci = gpu.pci.sysfs();
  signal.serial = gpu.serial;
  // One that could never be opened has no UUID.
  signal.entity = {EntityKind::gpu, gpu.uuid.empty() ? signal.pci : gpu.uuid};
  signal.programs = gpu.programs;
  signal.linked = gpu.linked;
  signal.about = gpu.uuid.empty() ? fmt::format("The GPU at {}", signal.pci)
                                  : fmt::format("GPU {} ({})", gpu.index, signal.pci);
}

EntityKind kind_of(const Event& event, Family family) {
  if (event.kind == EventKind::sxid) return EntityKind::nvswitch;
  if (family == Family::network) return EntityKind::nic;
  return event.kind == EventKind::aer || family == Family::pcie ? EntityKind::port
                                                                : EntityKind::gpu;
}

// The one GPU that hangs on this PCIe port.
const NodeView::Gpu* below_port(const NodeView& node, const PciAddress& port) {
  const auto found = std::ranges::find_if(node.gpus, [&](const NodeView::Gpu& gpu) {
    return std::ranges::find(gpu.ports, port) != gpu.ports.end();
  });
  return found == node.gpus.end() ? nullptr : &*found;
}

void be_about_place(Signal& signal, const Event& event, const NodeView& node) {
  if (!event.pci) {
    signal.entity = {EntityKind::node, node.hostname};
    signal.about = fmt::format("Node {}", node.hostname);
    return;
  }
  const auto* gpu = find_gpu(node, *event.pci);
  if (gpu != nullptr) return be_about_gpu(signal, *gpu);
  // A link has two ends: what the port above a GPU says of it is about the GPU's link.
  const auto* below = below_port(node, *event.pci);
  if (below != nullptr) {
    be_about_gpu(signal, *below);
    signal.about = fmt::format("The PCIe port {} above {}", event.pci->sysfs(), signal.about);
    return;
  }
  signal.pci = event.pci->sysfs();
  signal.entity = {kind_of(event, signal.cause.family), signal.pci};
  const auto name = [&]() -> std::string_view {
    if (signal.entity.kind == EntityKind::nvswitch) return "The NVSwitch";
    if (signal.entity.kind == EntityKind::nic) return "The network card";
    return signal.entity.kind == EntityKind::gpu ? "The GPU" : "The PCIe device";
  }();
  signal.about = fmt::format("{} at {}", name, signal.pci);
}

// "python3, pid 4711, of job 12"; empty: the line names no process.
std::string program_words(const Event& event, const NodeView& node) {
  if (!event.pid && event.process.empty()) return {};
  std::string words = event.process.empty() ? std::string("a process") : event.process;
  if (!event.pid) return words;
  words += fmt::format(", pid {}", *event.pid);
  const auto owner = node.owners.find(*event.pid);
  return owner == node.owners.end() ? words : fmt::format("{}, of {}", words, owner->second);
}

// What a program does again and again is one incident, whatever its pid is by then.
std::string subject_of(const Event& event) {
  std::string subject = event.process;
  if (subject.empty() && event.pid) subject = fmt::format("pid {}", *event.pid);
  if (event.gi) subject += fmt::format(" on gi {}", *event.gi);
  return subject;
}

std::string name_of(const Event& event) {
  if (event.kind == EventKind::xid) {
    return event.code ? fmt::format("Xid {}, ", *event.code) : std::string("an Xid, ");
  }
  if (event.kind == EventKind::sxid) {
    return event.code ? fmt::format("SXid {}, ", *event.code) : std::string("an SXid, ");
  }
  return {};
}

const Cause* cause_of(const Event& event, const event::Judgement& judged) {
  if (event.kind == EventKind::sxid) return &cause_of_sxid();
  if (event.kind != EventKind::xid) return cause_of_sign(event.sign);
  // A number that this driver means otherwise is not what the table of causes has.
  if (!event.code || judged.level_reason == "unknown_code") return &cause_of_xid(0, std::nullopt);
  return &cause_of_xid(*event.code, judged.level);
}

// A link's trouble is its GPU's: the kernel's line about it names the GPU, and what is to be done is done to the GPU.
bool is_of_gpu(const Entity& entity, const NodeView::Gpu& gpu) {
  const auto part = entity.kind == EntityKind::nvlink ? entity.id.find('/') : std::string::npos;
  if (entity.kind != EntityKind::gpu && part == std::string::npos) return false;
  const auto id = std::string_view(entity.id).substr(0, part);
  return id == gpu.uuid || id == gpu.pci.sysfs();
}

// The RDMA device that a finding is about alone; empty: it is about none, or about several.
std::string nic_of(const Finding& finding) {
  if (finding.entity.kind == EntityKind::port)
    return finding.entity.id.substr(0, finding.entity.id.find('/'));
  const auto nics = health::wrong_nics(finding);
  return nics.size() == 1 ? nics.front() : std::string();
}

// A port's trouble is its card's, where the card has no other port: the kernel's line about it names the card.
void be_about_nic(Signal& signal, const std::string& nic, const NodeView& node) {
  const auto found = node.nics.find(nic);
  if (found == node.nics.end()) return;
  signal.pci = found->second.sysfs();
  signal.entity = {EntityKind::nic, signal.pci};
  signal.about = fmt::format("{} ({})", nic, signal.pci);
}

// Where a finding about RDMA ports belongs; of any other nothing changes.
void be_about_ports(Signal& signal, const Finding& finding, const NodeView& node) {
  // A subnet manager that is not there is one fault, however many ports wait for it.
  if (finding.rule == "port-not-configured") {
    signal.entity = {EntityKind::node, node.hostname};
    return;
  }
  const auto nic = nic_of(finding);
  if (nic.empty()) return;
  be_about_nic(signal, nic, node);
  // One card that is missed is that card's trouble.
  if (finding.entity.kind == EntityKind::node && signal.entity.kind == EntityKind::nic)
    signal.cause = cause_of_rule("port-down", finding.severity);
}

void view_ports(const store::Snapshot& snapshot, NodeView& view) {
  if (snapshot.ports == nullptr) return;
  view.ports_known = snapshot.ports->problem.empty();
  std::map<std::string, unsigned> ports;
  for (const RdmaPort& port : snapshot.ports->ports) {
    if (port.pci) view.nics[port.device] = *port.pci;
    ++ports[port.device];
  }
  std::erase_if(view.nics, [&](const auto& nic) { return ports[nic.first] > 1; });
  for (const AbsentRdmaDevice& device : snapshot.ports->absent) {
    if (device.pci) view.nics[device.device] = *device.pci;
  }
}

// Where there is nothing to do, nobody is to be woken.
Severity severity_of(const Cause& cause, Action action) {
  return action == Action::observe ? std::min(cause.severity, Severity::warning) : cause.severity;
}

// The port that the card sits in: a link of PCIe has one device at its end. What lies above it may lead to others too,
// which nobody has listed here (disks, say).
std::vector<PciAddress> own_port(const PciPath& path) {
  if (path.bridges.empty()) return {};
  return {path.bridges.back()};
}

}  // namespace

NodeView view_of(const store::Snapshot& snapshot, std::string boot) {
  NodeView view{.hostname = snapshot.hostname,
                .boot = std::move(boot),
                .reading = snapshot.source.state == device::SourceState::running};
  view.driver = store::driver_version(snapshot);
  if (snapshot.attribution != nullptr) {
    for (const auto& [pid, owner] : snapshot.attribution->owners) {
      if (auto words = owner_words(owner); !words.empty()) view.owners[pid] = std::move(words);
    }
  }
  view_ports(snapshot, view);
  for (const auto& gpu : snapshot.gpus) {
    auto& seen =
        view.gpus.emplace_back(NodeView::Gpu{gpu.info.pci, gpu.info.uuid, gpu.info.serial,
                                             gpu.info.index, view.reading && health::answers(gpu)});
    for (const auto& link : gpu.info.nvlinks) {
      if (link.remote == device::LinkEnd::gpu) add_once(seen.linked, link.remote_pci);
    }
    if (snapshot.devices != nullptr) {
      const auto place = snapshot.devices->gpus.find(gpu.info.pci);
      if (place != snapshot.devices->gpus.end()) seen.ports = own_port(place->second.path);
    }
    for (const auto& process : gpu.processes)
      add_once(seen.programs, program_of(process.pid, view));
  }
  return view;
}

const Cause* cause_of(const Event& event, const std::optional<DriverVersion>& driver) {
  return cause_of(event, event::judge(event, driver));
}

bool says_recovered(const Event& event) {
  constexpr std::uint32_t recovery_changed = 154;
  return event.kind == EventKind::xid && event.code == recovery_changed &&
         detail(event, "recovery_to") == "None";
}

std::optional<Signal> signal_of(const Event& event, const NodeView& node, WallTime now) {
  const auto judged = event::judge(event, node.driver);
  const auto* cause = cause_of(event, judged);
  if (cause == nullptr) return std::nullopt;
  Signal signal{.cause = *cause, .boot = event.origin.boot, .at = event.time.value_or(now)};
  be_about_place(signal, event, node);
  signal.action = judged.action;
  signal.of_driver = cause->word == "driver-asks" && event.kind == EventKind::xid;
  if (says_recovered(event)) return std::nullopt;
  signal.severity = severity_of(*cause, judged.action);
  if (cause->family == Family::application || cause->word == "out-of-memory") {
    signal.subject = subject_of(event);
  }
  const auto program = program_words(event, node);
  signal.message = fmt::format("{}: {}{}{}{}", signal.about, name_of(event), judged.meaning,
                               program.empty() ? "" : "; ", program);
  signal.source = judged.source;
  if (event.kind == EventKind::xid && event.code) {
    const auto* facts = find_xid(*event.code);
    if (facts != nullptr) signal.fix = xid_bucket_words(facts->immediate);
  }
  const auto asked = whole_number<std::int64_t>(detail(event, "recovery_to_value"));
  if (signal.of_driver && asked) signal.fix = health::recovery_of(*asked, {}).fix;
  signal.evidence = event.text;
  if (event.pid) signal.programs = {program_of(*event.pid, node)};
  return signal;
}

std::optional<Signal> signal_of(const Finding& finding, const NodeView& node, WallTime now) {
  if (finding.severity == Severity::info || finding.state != FindingState::firing) {
    return std::nullopt;
  }
  // The kernel's or NVML's own event has told it already.
  if (finding.rule == "xid-seen") return std::nullopt;
  Signal signal{.cause = cause_of_rule(finding.rule, finding.severity), .entity = finding.entity};
  signal.about = finding.entity.id;
  for (const auto& gpu : node.gpus) {
    if (is_of_gpu(finding.entity, gpu)) be_about_gpu(signal, gpu);
  }
  be_about_ports(signal, finding, node);
  if (signal.entity.kind == EntityKind::node) signal.about = fmt::format("Node {}", node.hostname);
  signal.severity = finding.severity;
  signal.action = finding.action.value_or(Action::observe);
  signal.of_driver = finding.rule == "recovery-action";
  signal.at = finding.since.value_or(now);
  signal.message = finding.message;
  signal.explanation = finding.cause;
  signal.fix = finding.fix;
  signal.source = finding.source;
  signal.evidence = finding.evidence.empty()
                        ? finding.message
                        : fmt::format("{}: {}", finding.message, finding.evidence.front());
  signal.finding = finding;
  return signal;
}

}  // namespace stoker::incident
