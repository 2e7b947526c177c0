// Simulated node: /sys/class/infiniband. Files and words as Linux's drivers/infiniband/core/sysfs.c and
// the mlx5 driver make them; nobody has counted anything yet.
#include <fmt/format.h>

#include <array>

#include "device/simnode/fake_root.h"
#include "device/simnode/files.h"

namespace stoker::simnode {
namespace {

constexpr std::array port_counters{"VL15_dropped",
                                   "excessive_buffer_overrun_errors",
                                   "link_downed",
                                   "link_error_recovery",
                                   "local_link_integrity_errors",
                                   "multicast_rcv_packets",
                                   "multicast_xmit_packets",
                                   "port_rcv_constraint_errors",
                                   "port_rcv_data",
                                   "port_rcv_errors",
                                   "port_rcv_packets",
                                   "port_rcv_remote_physical_errors",
                                   "port_rcv_switch_relay_errors",
                                   "port_xmit_constraint_errors",
                                   "port_xmit_data",
                                   "port_xmit_discards",
                                   "port_xmit_packets",
                                   "port_xmit_wait",
                                   "symbol_error",
                                   "unicast_rcv_packets",
                                   "unicast_xmit_packets"};

constexpr std::array hardware_counters{"duplicate_request",
                                       "implied_nak_seq_err",
                                       "lifespan",
                                       "local_ack_timeout_err",
                                       "out_of_buffer",
                                       "out_of_sequence",
                                       "packet_seq_err",
                                       "req_cqe_error",
                                       "req_cqe_flush_error",
                                       "req_remote_access_errors",
                                       "req_remote_invalid_request",
                                       "req_rnr_retries_exceeded",
                                       "req_transport_retries_exceeded",
                                       "resp_cqe_error",
                                       "resp_cqe_flush_error",
                                       "resp_local_length_error",
                                       "resp_remote_access_errors",
                                       "rnr_nak_retry_err",
                                       "rx_atomic_requests",
                                       "rx_dct_connect",
                                       "rx_read_requests",
                                       "rx_write_requests"};

constexpr std::array roce_counters{"np_cnp_sent",
                                   "np_ecn_marked_roce_packets",
                                   "roce_adp_retrans",
                                   "roce_adp_retrans_to",
                                   "roce_slow_restart",
                                   "roce_slow_restart_cnps",
                                   "roce_slow_restart_trans",
                                   "rp_cnp_handled",
                                   "rp_cnp_ignored",
                                   "rx_icrc_encapsulated"};

constexpr const char* lifespan_ms = "10";  // the mlx5 driver's default

// sysfs.c rate_show: "400 Gb/sec (4X NDR)".
std::string rate_words(unsigned gbps) {
  switch (gbps) {
    case 100: return "100 Gb/sec (4X EDR)";
    case 200: return "200 Gb/sec (4X HDR)";
    case 400: return "400 Gb/sec (4X NDR)";
    case 800: return "800 Gb/sec (4X XDR)";
    default: return fmt::format("{} Gb/sec (4X)", gbps);
  }
}

class PortWriter {
 public:
  explicit PortWriter(std::string folder) : folder_(std::move(folder)) {}
  void put(const std::string& name, const std::string& text) {
    if (result_) result_ = write_file(folder_ + name, text + "\n");
  }
  template <typename Names>
  void zeroes(const std::string& below, const Names& names) {
    for (const char* name : names) put(below + name, "0");
  }
  [[nodiscard]] Result<void> result() const { return result_; }

 private:
  std::string folder_;
  Result<void> result_;
};

// A GUID that is plainly nobody's: 51 for "SI", and the card's number.
std::string guid(unsigned index) { return fmt::format("5100:0000:0000:{:04x}", index + 1); }

void write_gids(const MachineNic& nic, unsigned index, PortWriter& port) {
  const auto gid = [&](unsigned number, const std::string& text, const std::string& type) {
    port.put(fmt::format("gids/{}", number), text);
    port.put(fmt::format("gid_attrs/types/{}", number), type);
    if (!nic.netdev.empty()) port.put(fmt::format("gid_attrs/ndevs/{}", number), nic.netdev);
  };
  const std::string local = "fe80:0000:0000:0000:" + guid(index);
  gid(0, local, "IB/RoCE v1");
  if (!nic.ethernet) return;
  // 192.0.2.0/24 is for documentation (RFC 5737).
  const std::string mapped = fmt::format("0000:0000:0000:0000:0000:ffff:c000:02{:02x}", index + 1);
  gid(1, local, "RoCE v2");
  gid(2, mapped, "IB/RoCE v1");
  gid(3, mapped, "RoCE v2");
}

Result<void> write_port(const MachineNic& nic, unsigned index, const std::string& folder) {
  PortWriter port(folder + "/ports/1/");
  port.put("state", "4: ACTIVE");
  port.put("phys_state", "5: LinkUp");
  port.put("rate", rate_words(nic.rate_gbps));
  port.put("link_layer", nic.ethernet ? "Ethernet" : "InfiniBand");
  port.put("lid", nic.ethernet ? "0x0" : fmt::format("{:#x}", index + 1));
  port.put("sm_lid", nic.ethernet ? "0x0" : "0x1");
  port.zeroes("counters/", port_counters);
  port.zeroes("hw_counters/", hardware_counters);
  port.put("hw_counters/lifespan", lifespan_ms);
  if (nic.ethernet) port.zeroes("hw_counters/", roce_counters);
  write_gids(nic, index, port);
  return port.result();
}

}  // namespace

Result<void> write_infiniband(const Machine& machine, const std::string& root) {
  for (unsigned i = 0; i < machine.nics.size(); ++i) {
    const MachineNic& nic = machine.nics[i];
    const std::string folder = root + "/sys/class/infiniband/" + nic.name;
    PortWriter device(folder + "/");
    device.put("node_type", "1: CA");
    device.put("node_guid", guid(i));
    device.put("hca_type", nic.rate_gbps > 200 ? "MT4129" : "MT4123");
    device.put("node_desc", machine.name + " " + nic.name);
    if (!device.result()) return device.result();
    if (auto written = write_port(nic, i, folder); !written) return written;
    auto linked = make_link("../../../bus/pci/devices/" + nic.pci.sysfs(), folder + "/device");
    if (!linked) return linked;
  }
  return {};
}

Result<void> write_root(const Machine& machine, const sim::State& state, const std::string& root) {
  if (auto written = write_pci(machine, state, root); !written) return written;
  if (auto written = write_driver(machine, state, root); !written) return written;
  if (auto written = write_infiniband(machine, root); !written) return written;
  return write_processes(state, root);
}

}  // namespace stoker::simnode
