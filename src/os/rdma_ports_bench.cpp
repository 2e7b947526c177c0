// What a look at eight RoCE ports costs the reader: the files of eight cards of Linux's mlx5 driver in a folder, which answers
// at once. What the driver and its firmware take for each counter comes on top where they are real.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>

#include "os/rdma_ports.h"
#include "os/tree_test_support.h"

namespace stoker::os {
namespace {

constexpr unsigned ports = 8;
constexpr unsigned gids = 256;
constexpr unsigned set_gids = 4;
constexpr unsigned port_counters = 21;
constexpr unsigned hardware_counters = 33;

class EightPorts : public Tree {
 public:
  EightPorts() {
    for (unsigned n = 0; n < ports; ++n) put_device(n);
  }
  [[nodiscard]] const Env& env() const { return *env_; }

 private:
  void put_device(unsigned n) const {
    const auto device = fmt::format("sys/class/infiniband/mlx5_{}/", n);
    const auto port = device + "ports/1/";
    put(device + "hca_type", "MT4129");
    put(port + "state", "4: ACTIVE");
    put(port + "phys_state", "5: LinkUp");
    put(port + "rate", "400 Gb/sec (4X NDR)");
    put(port + "link_layer", "Ethernet");
    for (unsigned counter = 0; counter < port_counters; ++counter)
      put(fmt::format("{}counters/counter_{}", port, counter), "123456789");
    for (unsigned counter = 0; counter < hardware_counters; ++counter)
      put(fmt::format("{}hw_counters/counter_{}", port, counter), "123456789");
    for (unsigned gid = 0; gid < gids; ++gid) {
      const bool set = gid < set_gids;
      put(fmt::format("{}gids/{}", port, gid),
          set ? fmt::format("0000:0000:0000:0000:0000:ffff:c000:02{:02x}", n)
              : "0000:0000:0000:0000:0000:0000:0000:0000");
      put(fmt::format("{}gid_attrs/types/{}", port, gid), "RoCE v2");
      put(fmt::format("{}gid_attrs/ndevs/{}", port, gid), fmt::format("eth{}", n));
    }
  }
};

// The usual look: states, rates, counters.
void look_at_ports(benchmark::State& state) {
  const EightPorts tree;
  RdmaPortReader reader(tree.env(), {}, {.settings = Seconds(86'400)});
  reader.read();
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(reader.read());
}
BENCHMARK(look_at_ports)->Unit(benchmark::kMicrosecond);

// Every five minutes: what people set too.
void look_at_ports_and_settings(benchmark::State& state) {
  const EightPorts tree;
  RdmaPortReader reader(tree.env());
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(reader.read());
}
BENCHMARK(look_at_ports_and_settings)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace stoker::os
