#include "device/simnode/sim_node.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/closest.h"
#include "base/program.h"
#include "catalog/yaml/yaml.h"
#include "device/sim/state_file.h"
#include "device/simnode/clear.h"
#include "device/simnode/fake_root.h"
#include "device/simnode/fault_run.h"
#include "device/simnode/files.h"
#include "device/simnode/gpu_facts.h"
#include "device/simnode/loads.h"
#include "device/simnode/machine.h"
#include "device/simnode/mig.h"
#include "device/simnode/report.h"

namespace stoker::simnode {
namespace {

// DATA/sim/node: which recipe made it. First line the machine's name, then the driver asked for, then the
// products of its GPUs.
struct Identity {
  std::string machine;
  std::string driver;
  std::vector<std::string> products;

  [[nodiscard]] std::string text() const {
    std::string lines = machine + "\n" + driver + "\n";
    for (const auto& product : products) lines += product + "\n";
    return lines;
  }
  static Identity parse(std::string_view text) {
    Identity identity;
    std::vector<std::string> lines;
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      lines.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    lines.resize(std::max<std::size_t>(lines.size(), 2));
    identity.machine = lines[0];
    identity.driver = lines[1];
    identity.products.assign(lines.begin() + 2, lines.end());
    return identity;
  }
};

Result<Machine> machine_of(const Recipe& recipe) {
  if (recipe.profile.empty() == recipe.machine_file.empty()) {
    return fail(
        ErrorCode::invalid_input,
        "a simulated node is made from a profile or from a machine file; the profiles are " +
            listed(profile_names()));
  }
  auto machine = recipe.profile.empty() ? load_machine(recipe.machine_file, recipe.catalog_folder)
                                        : load_profile(recipe.profile, recipe.catalog_folder);
  if (machine && !recipe.driver_version.empty()) machine->driver_version = recipe.driver_version;
  return machine;
}

Identity identity_of(const Machine& machine) {
  Identity identity{machine.name, machine.driver_version, {}};
  for (const auto& gpu : machine.gpus) identity.products.push_back(gpu.product);
  return identity;
}

// MIG instances that the machine asks for; a machine that asks for what does not fit is refused.
Result<void> make_instances(const Machine& machine, std::uint64_t now_ns, sim::State& state) {
  for (unsigned row = 0; row < machine.gpus.size(); ++row) {
    const auto& names = machine.gpus[row].instances;
    if (names.empty()) continue;
    sim::Gpu& gpu = state.gpus[row];
    set_mig_mode(true, gpu.mig);
    begin_load(gpu, row, gpu.load.kind, gpu.load.seed, now_ns);
    for (const auto& name : names) {
      auto made = create_instance(name, gpu);
      if (made) continue;
      return fail(ErrorCode::invalid_input,
                  "gpus[" + std::to_string(row) + "].mig: " + made.error().message());
    }
  }
  return {};
}

Result<std::unique_ptr<sim::State>> state_of(const Machine& machine, std::uint64_t now_ns) {
  auto state = std::make_unique<sim::State>();
  fill_state(machine, now_ns, *state);
  if (auto made = make_instances(machine, now_ns, *state); !made) return fail(made.error());
  return state;
}

Result<void> write_state(const sim::State& facts, const std::string& path) {
  auto file = sim::StateFile::create(path);
  if (!file) return fail(file.error());
  if (auto lock = write_file(sim::lock_path(path), ""); !lock) return lock;
  return file->write([&](sim::State& state) {
    const sim::Header header = state.header;
    state = facts;
    state.header = header;
  });
}

Result<void> write_node(const Machine& machine, const std::string& folder) {
  const std::uint64_t now_ns = sim::monotonic_ns(sim::Clock{});
  const auto state = state_of(machine, now_ns);
  if (!state) return fail(state.error());
  if (auto written = write_file(folder + "/node", identity_of(machine).text()); !written) {
    return written;
  }
  if (auto written = write_state(**state, folder + "/state"); !written) return written;
  if (auto written = write_root(machine, **state, folder + "/root"); !written) return written;
  const KernelLog log(folder + "/root/dev/kmsg");
  for (const auto& line : load_lines(machine.driver_version)) {
    if (auto printed = log.append(line.level, now_ns / 1000, {line.text}); !printed) return printed;
  }
  return {};
}

// A node of `machine` below DATA, made aside and put in place by one rename.
Result<void> make_node(const Machine& machine, const std::string& data_folder) {
  const std::string fresh = data_folder + "/sim.new-" + std::to_string(::getpid());
  remove_all(fresh);
  auto written = write_node(machine, fresh);
  if (written) written = move_aside(fresh, data_folder + "/sim");
  if (!written) remove_all(fresh);
  return written;
}

}  // namespace

struct SimNode::Impl {
  Place place;
  std::string state_path;
  std::string root;
  std::vector<std::string> products;
  sim::StateFile file;
};

SimNode::SimNode(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SimNode::SimNode(SimNode&&) noexcept = default;
SimNode& SimNode::operator=(SimNode&&) noexcept = default;
SimNode::~SimNode() = default;

Result<SimNode> SimNode::create(const Recipe& recipe, const std::string& data_folder) {
  const auto machine = machine_of(recipe);
  if (!machine) return fail(machine.error());
  const std::string data = absolute(data_folder);
  const std::string folder = data + "/sim";
  if (!exists(folder)) {
    if (auto made = make_node(*machine, data); !made) return fail(made.error());
    return open(data);
  }
  const auto there = read_file(folder + "/node");
  if (!there || *there != identity_of(*machine).text()) {
    return fail(ErrorCode::invalid_input,
                folder + " holds another simulated node" +
                    (there ? " (" + Identity::parse(*there).machine + ")" : std::string()) +
                    "; remove it or take another --data");
  }
  return open(data);
}

Result<SimNode> SimNode::open(const std::string& data_folder) {
  const std::string folder = absolute(data_folder) + "/sim";
  const auto text = read_file(folder + "/node");
  if (!text) {
    return fail(Error(ErrorCode::not_found, "there is no simulated node in " + data_folder +
                                                "; make one with stoker sim node PROFILE --data " +
                                                data_folder)
                    .caused_by(text.error()));
  }
  const Identity identity = Identity::parse(*text);
  auto file = sim::StateFile::open(folder + "/state", sim::StateFile::Access::write);
  if (!file) return fail(file.error());
  const Place place{folder, identity.machine};
  // Of a node that was made before this machine booted, or by an older Stoker.
  if (auto shown = show_processes(*file, place); !shown) return fail(shown.error());
  return SimNode(std::make_unique<Impl>(
      Impl{place, place.state(), place.root(), identity.products, std::move(*file)}));
}

const std::string& SimNode::state_file() const { return impl_->state_path; }
const std::string& SimNode::root() const { return impl_->root; }

Result<std::string> SimNode::inject(const FaultRequest& fault) {
  const FaultRow* row = find_fault(fault.name);
  if (row == nullptr) {
    std::vector<std::string> names;
    for (const auto& other : fault_rows()) names.emplace_back(other.name);
    return fail(ErrorCode::invalid_input, "there is no fault '" + fault.name + "'; there are " +
                                              listed(closest_first(fault.name, std::move(names))));
  }
  if (auto checked = check_request(*row, fault); !checked) return fail(checked.error());
  return run_change(impl_->file, impl_->place, row->apply, fault);
}

Result<std::string> SimNode::clear(const std::string& gpu) {
  return run_change(impl_->file, impl_->place, apply_clear, {.name = "clear", .gpu = gpu});
}

Result<std::string> SimNode::set_load(const std::string& kind, const std::string& gpu) {
  if (!find_load(kind)) {
    return fail(ErrorCode::invalid_input, "there is no load '" + kind + "'; there are " +
                                              listed(closest_first(kind, load_names())));
  }
  return run_change(impl_->file, impl_->place, apply_load, {.name = kind, .gpu = gpu});
}

SimReport SimNode::report() const {
  SimReport report = impl_->file.read([](const sim::State& state) {
    SimReport out;
    describe(state, out);
    return out;
  });
  report.profile = impl_->place.machine;
  report.state_file = impl_->state_path;
  report.root = impl_->root;
  for (auto& gpu : report.gpus) {
    if (gpu.index < impl_->products.size()) gpu.product = impl_->products[gpu.index];
  }
  return report;
}

Result<std::string> library_folder() {
  const auto libraries = program_libraries();
  if (!libraries) return fail(libraries.error());
  const auto folder = std::filesystem::path(*libraries) / "sim";
  std::error_code code;
  if (!std::filesystem::exists(folder / "libnvidia-ml.so.1", code)) {
    return fail(ErrorCode::not_found, "the simulated driver is not at " +
                                          (folder / "libnvidia-ml.so.1").string() +
                                          "; ./dev build makes it");
  }
  return folder.string();
}

}  // namespace stoker::simnode
