// Settings that contradict each other, or of which one makes the other void.
#include <fmt/format.h>

#include <array>

#include "lint/env/checks.h"

namespace stoker::lint {
namespace {

struct VoidRow {
  std::string_view name;   // has no effect
  std::string_view other;  // while this one is
  std::string_view value;  // on, off (0, or words that are no number), set, unset
  std::string_view why;
};

constexpr auto void_rows = std::to_array<VoidRow>({
    {"NCCL_IB_HCA", "NCCL_IB_DISABLE", "on", "no RDMA device is used"},
    {"NCCL_IB_GID_INDEX", "NCCL_IB_DISABLE", "on", "no RDMA device is used"},
    {"NCCL_IB_TIMEOUT", "NCCL_IB_DISABLE", "on", "no RDMA device is used"},
    {"NCCL_IB_QPS_PER_CONNECTION", "NCCL_IB_DISABLE", "on", "no RDMA device is used"},
    {"NCCL_NET_GDR_LEVEL", "NCCL_IB_DISABLE", "on",
     "sockets have no GPUDirect RDMA; a network plugin may"},
    // src/graph/paths.cc, ncclGetLevel: NCCL_P2P_DISABLE is asked first
    {"NCCL_P2P_LEVEL", "NCCL_P2P_DISABLE", "on", "direct access is off at every distance"},
    // env.html: they choose a GID, which a fixed row has already chosen
    {"NCCL_IB_ADDR_FAMILY", "NCCL_IB_GID_INDEX", "not negative", "the row is fixed"},
    {"NCCL_IB_ADDR_RANGE", "NCCL_IB_GID_INDEX", "not negative", "the row is fixed"},
    {"NCCL_IB_ROCE_VERSION_NUM", "NCCL_IB_GID_INDEX", "not negative", "the row is fixed"},
    // ProcessGroupNCCL.hpp: dumps need the recorder's buffer and the monitoring thread
    {"TORCH_NCCL_DUMP_ON_TIMEOUT", "TORCH_NCCL_ENABLE_MONITORING", "off",
     "the thread that would dump does not run"},
});

bool holds(const EnvValues& values, const VoidRow& row) {
  const auto other = values.find(row.other);
  if (other == values.end()) return false;
  const std::string_view value = *other->second->value;
  const auto read = read_number(value);
  if (row.value == "on") return read.value != 0;
  if (row.value == "off") return read.whole && read.value == 0;
  return read.whole && read.value >= 0;
}

void check_void(const EnvValues& values, EnvReport& report) {
  for (const auto& row : void_rows) {
    const auto at = values.find(row.name);
    if (at == values.end() || !holds(values, row)) continue;
    if (at->second->value->empty()) continue;
    report
        .add("nccl-no-effect", *at->second,
             fmt::format("{} has no effect with {}={}: {}", row.name, row.other,
                         value_of(values, row.other), row.why))
        .evidence.push_back(fmt::format("{}={}", row.other, value_of(values, row.other)));
  }
}

// `less` may not be above `more`.
void check_order(const EnvValues& values, std::string_view less, std::string_view more,
                 EnvReport& report) {
  const auto least = read_number(value_of(values, less));
  const auto most = read_number(value_of(values, more));
  if (!least.whole || !most.whole || most.value <= 0 || least.value <= most.value) return;
  report.add("nccl-contradiction", *values.find(less)->second,
             fmt::format("{}={} is above {}={}", less, least.value, more, most.value));
}

void check_sockets(const EnvValues& values, EnvReport& report) {
  constexpr long long most_sockets = 64;  // env.html, NCCL_NSOCKS_PERTHREAD
  const auto threads = read_number(value_of(values, "NCCL_SOCKET_NTHREADS"));
  const auto sockets = read_number(value_of(values, "NCCL_NSOCKS_PERTHREAD"));
  if (!threads.whole || !sockets.whole || threads.value <= 0 || sockets.value <= 0) return;
  if (threads.value > most_sockets || sockets.value > most_sockets ||
      threads.value * sockets.value > most_sockets) {
    report.add("nccl-contradiction", *values.find("NCCL_NSOCKS_PERTHREAD")->second,
               fmt::format("{} threads with {} sockets each are more than the {} that a connection "
                           "may have",
                           threads.value, sockets.value, most_sockets));
  }
}

}  // namespace

void check_together(const EnvValues& values, EnvReport& report) {
  check_void(values, report);
  check_order(values, "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", report);
  check_order(values, "NCCL_MIN_CTAS", "NCCL_MAX_CTAS", report);
  check_sockets(values, report);
}

}  // namespace stoker::lint
