#include "device/simnode/fault_run.h"

#include <fmt/format.h>

#include "base/closest.h"
#include "base/text.h"
#include "device/simnode/fake_root.h"
#include "device/simnode/files.h"
#include "device/simnode/text_field.h"

namespace stoker::simnode {
namespace {

bool is_meant(const sim::Gpu& gpu, unsigned row, const std::string& text,
              const Result<PciAddress>& pci) {
  if (text == "all" || text == get(gpu.identity.uuid)) return true;
  if (const auto index = whole_number<unsigned>(text)) return *index == row;
  return pci && *pci == address_of(gpu.pci);
}

// The driver names a GPU once before its first Xid: "NVRM: GPU at PCI:...", then its serial number.
std::vector<std::string> introduction(const sim::Gpu& gpu, const KernelLog& log) {
  const std::string at = fmt::format("NVRM: GPU at {}: ", address_of(gpu.pci).xid());
  if (log.has(at)) return {};
  return {at + std::string(get(gpu.identity.uuid)),
          fmt::format("NVRM: GPU Board Serial Number: {}", get(gpu.identity.serial))};
}

struct Outcome {
  Result<std::string> words{""};
  std::vector<KernelLine> lines;
  std::vector<RootChange> root;
  std::vector<PortChange> ports;
  std::uint64_t now_ns = 0;
};

Result<void> print_lines(const sim::StateFile& file, const Place& place, const Outcome& outcome) {
  const KernelLog log(place.kernel_log());
  for (const auto& line : outcome.lines) {
    std::vector<std::string> texts;
    if (line.gpu) {
      const auto gpu = file.read([&](const sim::State& state) {
        return std::make_pair(state.gpus[*line.gpu].identity, state.gpus[*line.gpu].pci);
      });
      sim::Gpu facts{};
      facts.identity = gpu.first;
      facts.pci = gpu.second;
      texts = introduction(facts, log);
    }
    texts.push_back(line.text);
    if (auto printed = log.append(line.level, outcome.now_ns / 1000, texts); !printed)
      return printed;
  }
  return {};
}

Result<void> move_gpu(const Place& place, const PciAddress& pci, bool away) {
  for (const auto& folder : {pci_folder(pci), driver_folder(pci)}) {
    const std::string here = place.root() + folder;
    const std::string there = place.aside() + folder;
    if (auto moved = move_aside(away ? here : there, away ? there : here); !moved) return moved;
  }
  return {};
}

Result<void> change_root(const sim::StateFile& file, const Place& place, const RootChange& change) {
  const sim::PciFacts pci =
      file.read([&](const sim::State& state) { return state.gpus[change.gpu].pci; });
  const std::string proc = "/proc/driver/nvidia";
  switch (change.kind) {
    case RootChange::Kind::link_lost:
    case RootChange::Kind::link_back:
      if (!exists(place.root() + pci_folder(address_of(pci)))) return {};
      return write_pci_link(pci, change.kind == RootChange::Kind::link_back, place.root());
    case RootChange::Kind::gpu_gone: return move_gpu(place, address_of(pci), true);
    case RootChange::Kind::gpu_back: return move_gpu(place, address_of(pci), false);
    case RootChange::Kind::driver_gone:
      return move_aside(place.root() + proc, place.aside() + "/driver");
    case RootChange::Kind::driver_back:
      return move_aside(place.aside() + "/driver", place.root() + proc);
  }
  return {};
}

}  // namespace

Result<std::vector<unsigned>> find_gpus(const sim::State& state, const std::string& text) {
  const auto pci = PciAddress::parse(text);
  std::vector<unsigned> rows;
  unsigned count = 0;
  for (unsigned row = 0; row < sim::max_gpus; ++row) {
    if (state.gpus[row].presence == sim::Presence::absent) continue;
    ++count;
    if (is_meant(state.gpus[row], row, text, pci)) rows.push_back(row);
  }
  if (!rows.empty()) return rows;
  return fail(ErrorCode::invalid_input,
              count == 0
                  ? std::string("this node has no GPU")
                  : fmt::format("--gpu: there is no GPU '{}'; there are 0 to {}, their UUIDs "
                                "and PCI addresses, and all",
                                text, count - 1));
}

Result<void> check_request(const FaultRow& row, const FaultRequest& request) {
  const Takes& takes = row.takes;
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::invalid_input,
                fmt::format("{} {}; usage: {} {}", row.name, what, row.name, row.usage));
  };
  if (request.args.size() < takes.least_args) return refuse("wants more arguments");
  if (request.args.size() > takes.most_args) return refuse("wants fewer arguments");
  if (!takes.gpu && !request.gpu.empty() && request.gpu != "0") return refuse("takes no --gpu");
  if (!takes.call && !request.call.empty()) return refuse("takes no --call");
  if (!takes.delay && !request.delay.empty()) return refuse("takes no --delay");
  if (takes.delay && request.delay.empty()) return refuse("wants --delay");
  if (!takes.return_code && !request.return_code.empty()) return refuse("takes no --return");
  if (takes.return_code && request.return_code.empty()) return refuse("wants --return");
  if (!takes.link && request.link) return refuse("takes no --link");
  return {};
}

Result<void> show_processes(const sim::StateFile& file, const Place& place) {
  const auto copy = std::make_unique<sim::State>();
  file.read([&](const sim::State& state) {
    *copy = state;
    return 0;
  });
  return write_processes(*copy, place.root());
}

Result<std::string> run_change(sim::StateFile& file, const Place& place, Apply apply,
                               const FaultRequest& request) {
  Outcome outcome;
  auto written = file.write([&](sim::State& state) {
    outcome.now_ns = sim::monotonic_ns(state.clock);
    const auto gpus = find_gpus(state, request.gpu.empty() ? "all" : request.gpu);
    if (!gpus) {
      outcome.words = fail(gpus.error());
      return;
    }
    Change change{state, outcome.now_ns, request, *gpus, {}, {}, {}, place.root()};
    outcome.words = apply(change);
    outcome.lines = std::move(change.lines);
    outcome.root = std::move(change.root);
    outcome.ports = std::move(change.ports);
  });
  if (!written) return fail(written.error());
  if (!outcome.words) return outcome.words;
  if (auto printed = print_lines(file, place, outcome); !printed) return fail(printed.error());
  for (const auto& change : outcome.root) {
    if (auto changed = change_root(file, place, change); !changed) return fail(changed.error());
  }
  for (const auto& change : outcome.ports) {
    if (auto changed = change_port(place.root(), place.aside(), change); !changed)
      return fail(changed.error());
  }
  if (auto changed = show_processes(file, place); !changed) return fail(changed.error());
  return outcome.words;
}

}  // namespace stoker::simnode
