// Machine stage: the ports of the node's RDMA cards, with their counters, as sysfs tells
// (Documentation/ABI/stable/sysfs-class-infiniband in the Linux source).
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "model/rdma_port.h"
#include "os/env.h"

namespace stoker::os {

// How somebody reads who does so for days.
struct PortReadPace {
  // How long what people set is taken to be as it was read: model, firmware, link layer, LIDs, GIDs, MTU, ECN. A port has
  // up to 256 GIDs, each a file. As long holds a device's refusal of its counters. 0: read each time, and a refusal holds.
  Nanoseconds settings{0};
};

inline constexpr std::size_t most_rdma_ports = 256;

// The names of the RDMA devices, mlx5_2 before mlx5_10; none without the RDMA core. Asks no device.
Result<std::vector<std::string>> list_rdma_devices(const Env& env);

// Reads ports again and again. A card whose firmware refuses a register makes the kernel log an error at each read, as
// the cards in NVIDIA's HGX B200 boards that belong to the fabric manager do
// (https://github.com/leptonai/gpud/issues/1164, https://github.com/prometheus/node_exporter/issues/3434): the first file
// that such a device refuses is the last that is read of its counters, until the settings are read anew. Any other error
// leaves what follows of that port's counters unread at this look. Each state and counter is asked of the driver, which may
// take as long as it likes: not for a thread that somebody waits for.
class RdmaPortReader {
 public:
  // `left_out`: names of devices of which nothing is read. `env` has to outlive this.
  explicit RdmaPortReader(const Env& env, std::set<std::string> left_out = {},
                          PortReadPace pace = {})
      : env_(env), left_out_(std::move(left_out)), pace_(std::move(pace)) {}

  RdmaPorts read();
  // Of that device alone. `readers`: as many as this share what may stay open.
  RdmaPorts read(const std::string& device, std::size_t readers);

 private:
  struct Settings {
    MonotonicTime at;
    RdmaPort port;  // with nothing else of it
  };
  struct Met {
    AbsentRdmaDevice device;
    std::string driver;  // that it had; empty: none was told
  };
  struct Refusal {
    MonotonicTime at;
    std::string why;  // "counters/symbol_error: why"
  };

  RdmaPort read_settings(const std::string& device, const std::string& folder,
                         unsigned number) const;
  RdmaPort settings_of(const std::string& device, const std::string& folder, unsigned number);
  RdmaPorts begin(std::size_t readers);
  void read_device(const std::string& device, RdmaPorts& out);
  void find_absent(const std::vector<std::string>& present, RdmaPorts& out);
  RdmaPort read_port(const std::string& device, const std::string& folder, unsigned number);
  [[nodiscard]] std::string needed(RdmaPort& port, const std::string& folder,
                                   const std::string& file);
  Result<std::string> content(const std::string& path);
  Result<std::vector<std::string>> counters_in(const std::string& folder);
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& folder);
  bool give_files_back();
  void meet(const std::string& device, const std::optional<PciAddress>& pci);
  void forget_old_refusal(const std::string& device);
  bool read_counters(RdmaPort& port, const std::string& folder, std::string_view group);

  const Env& env_;
  const std::set<std::string> left_out_;
  const PortReadPace pace_;
  std::map<std::string, Refusal> refused_;    // by device
  std::map<std::string, Settings> settings_;  // by folder
  // Of a reader with a pace: files that were opened once, and the names in a folder of counters.
  std::map<std::string, UniqueFd> opened_;
  std::size_t to_keep_ = std::numeric_limits<std::size_t>::max();  // of those
  std::map<std::string, std::vector<std::string>> names_;
  std::map<std::string, Met> met_;  // all devices that were ever seen, by name
};

}  // namespace stoker::os
