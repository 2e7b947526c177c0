#include "fabric/subnet/subnet_reader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "fabric/mad.h"
#include "fabric/subnet/fabric_library.h"
#include "fabric/subnet/quiet.h"

namespace stoker::fabric {
namespace {

// Requests of discovery on their way at once: infiniband-diags' default is 2, which spares the switches' processors.
constexpr unsigned outstanding_requests = 4;
// IBTA volume 1, 13.4.8.1 and 16.1.4: the attribute that every class has.
constexpr unsigned class_port_info = 1;
constexpr std::size_t answer_bytes = 1024;  // libibmad writes up to IB_MAD_SIZE
constexpr std::size_t payload_bytes = 192;  // IB_PC_DATA_SZ

std::string why_closed(const std::string& told) {
  const std::string tail = told.empty() ? "" : fmt::format(" ({})", told);
  if (::access("/dev/infiniband", F_OK) != 0) {
    return "this machine has no /dev/infiniband: no InfiniBand adapter, or the kernel's module "
           "ib_umad is not loaded" +
           tail;
  }
  if (::geteuid() != 0) {
    return "the adapter can't be used: it needs root, or the right to read and write "
           "/dev/infiniband/umad*" +
           tail;
  }
  return "no port of that name is active: see ibstat" + tail;
}

class SubnetReader {
 public:
  SubnetReader(const FabricLibrary& library, const SubnetOptions& options)
      : library_(library), options_(options) {}
  SubnetReader(const SubnetReader&) = delete;
  SubnetReader& operator=(const SubnetReader&) = delete;
  ~SubnetReader() {
    if (fabric_ != nullptr) library_.ibnd_destroy_fabric(fabric_);
    if (port_ != nullptr) library_.mad_rpc_close_port(port_);
  }

  Result<Sweep> read() {
    if (auto opened = open(); !opened) return fail(opened.error());
    const MonotonicTime begin = system_clock().monotonic();
    if (auto discovered = discover(); !discovered) return fail(discovered.error());
    const WallTime counters_begin = system_clock().wall();
    read_counters();
    sweep_.took = system_clock().monotonic() - begin;
    sweep_.taken.since_epoch = (counters_begin.since_epoch + system_clock().wall().since_epoch) / 2;
    return std::move(sweep_);
  }

 private:
  char* adapter() {
    adapter_ = options_.adapter;
    return adapter_.empty() ? nullptr : adapter_.data();
  }

  Result<void> open() {
    int classes[] = {IB_SMI_CLASS, IB_SMI_DIRECT_CLASS, IB_PERFORMANCE_CLASS};
    QuietStandardError quiet;
    port_ = library_.mad_rpc_open_port(adapter(), options_.port, classes, 3);
    const std::string told = quiet.restore();
    if (port_ == nullptr) return fail(ErrorCode::unavailable, why_closed(told));
    library_.mad_rpc_set_timeout(port_, static_cast<int>(options_.timeout.count()));
    library_.mad_rpc_set_retries(port_, static_cast<int>(options_.tries));
    return {};
  }

  Result<void> discover() {
    ibnd_config_t config{};
    config.max_smps = outstanding_requests;
    config.timeout_ms = static_cast<unsigned>(options_.timeout.count());
    config.retries = options_.tries;
    QuietStandardError quiet;
    fabric_ = library_.ibnd_discover_fabric(adapter(), options_.port, nullptr, &config);
    const std::string told = quiet.restore();
    if (fabric_ == nullptr) {
      return fail(ErrorCode::unavailable, fmt::format("the fabric was not found: {}", told));
    }
    for (const ibnd_node_t* node = fabric_->nodes; node != nullptr; node = node->next) take(*node);
    const ibnd_node_t* here = fabric_->from_node;
    sweep_.source = fmt::format("{} port {}", here == nullptr ? "?" : sweep_.name_of(here->guid),
                                fabric_->from_portnum);
    return {};
  }

  void take(const ibnd_node_t& from) {
    Node node;
    node.kind = decode_node_kind(static_cast<unsigned>(from.type));
    node.name = decode_node_name({reinterpret_cast<const std::uint8_t*>(from.nodedesc),
                                  ::strnlen(from.nodedesc, sizeof from.nodedesc)});
    for (int number = 1; number <= from.numports; ++number) {
      const ibnd_port_t* port = from.ports[number];
      // An adapter's other ports lead elsewhere: they belong to another subnet, or to none.
      if (port == nullptr && node.kind != NodeKind::switch_) continue;
      node.ports.emplace(static_cast<unsigned>(number), port_of(port));
    }
    sweep_.nodes.emplace(from.guid, std::move(node));
  }

  static Port port_of(const ibnd_port_t* from) {
    Port port;
    if (from == nullptr) {
      port.unread = "it did not answer";
      return port;
    }
    auto decoded = decode_port_info({from->info, sizeof from->info});
    if (decoded) port = std::move(*decoded);
    const ibnd_port_t* peer = from->remoteport;
    if (peer != nullptr && peer->node != nullptr) {
      port.peer = PortName{peer->node->guid, static_cast<unsigned>(peer->portnum)};
    }
    return port;
  }

  void read_counters() {
    std::size_t done = 0;
    for (const ibnd_node_t* node = fabric_->nodes; node != nullptr; node = node->next) {
      read_node(*node);
      ++done;
      if (options_.progress) options_.progress(done, sweep_.nodes.size());
    }
  }

  // A switch answers for all of its ports at one LID; each port of an adapter has its own.
  void read_node(const ibnd_node_t& from) {
    Node& node = sweep_.nodes.at(from.guid);
    std::optional<CounterAbilities> abilities;
    std::string unread;
    for (auto& [number, port] : node.ports) {
      if (!port.unread.empty()) continue;
      const ibnd_port_t* own = from.ports[number];
      const int lid = node.kind == NodeKind::switch_ ? from.smalid : own->base_lid;
      if (lid == 0) {
        if (port.linked()) port.counters_unread = "no subnet manager has given it a LID";
        continue;
      }
      if (unread.empty()) {
        const auto read = read_port(lid, number, abilities, port.counters);
        if (!read) unread = read.error().message();
      }
      port.counters_unread = unread;
    }
  }

  Result<void> read_port(int lid, unsigned number, std::optional<CounterAbilities>& abilities,
                         Counters& into) {
    if (!abilities) {
      if (auto asked = ask(lid, number, class_port_info); !asked) return asked;
      const auto decoded = decode_abilities(payload());
      if (!decoded) return fail(decoded.error());
      abilities = *decoded;
    }
    if (!abilities->wide_traffic || !abilities->wide_errors) {
      if (auto asked = ask(lid, number, IB_GSI_PORT_COUNTERS); !asked) return asked;
      if (auto decoded = decode_counters(payload(), *abilities, into); !decoded) return decoded;
    }
    if (!abilities->wide_traffic && !abilities->wide_errors) return {};
    if (auto asked = ask(lid, number, IB_GSI_PORT_COUNTERS_EXT); !asked) return asked;
    return decode_wide_counters(payload(), *abilities, into);
  }

  Result<void> ask(int lid, unsigned number, unsigned attribute) {
    ib_portid_t to{};
    to.lid = lid;
    answer_.fill(0);
    errno = 0;
    const auto* answered =
        library_.pma_query_via(answer_.data(), &to, static_cast<int>(number),
                               static_cast<unsigned>(options_.timeout.count()), attribute, port_);
    if (answered != nullptr) return {};
    if (errno == ETIMEDOUT || errno == 0)
      return fail(ErrorCode::timeout, "it did not answer in time");
    return fail(ErrorCode::io, fmt::format("it refused: error {}", errno));
  }
  [[nodiscard]] Bytes payload() const { return Bytes(answer_).first(payload_bytes); }

  const FabricLibrary& library_;
  const SubnetOptions& options_;
  std::string adapter_;
  ibmad_port* port_ = nullptr;
  ibnd_fabric_t* fabric_ = nullptr;
  Sweep sweep_;
  std::array<std::uint8_t, answer_bytes> answer_{};
};

}  // namespace

Result<Sweep> read_subnet(const SubnetOptions& options) {
  const auto library = fabric_library();
  if (!library) return fail(library.error());
  return SubnetReader(**library, options).read();
}

}  // namespace stoker::fabric
