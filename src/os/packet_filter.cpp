#include "os/packet_filter.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "os/command.h"

namespace stoker::os {
namespace {

// Far more than rules that somebody wrote; what thousands of services of kube-proxy make is not looked at.
constexpr std::size_t most_rules_text = 16UL << 20U;

std::string first_runnable(std::string_view name) {
  for (const std::string_view folder : {"/usr/sbin/", "/sbin/", "/usr/bin/", "/usr/local/sbin/"}) {
    auto path = fmt::format("{}{}", folder, name);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

// "CapEff:\t000001ffffffffff" (proc(5), /proc/pid/status)
bool may_administer_network(const Env& env) {
  const auto status = env.read_file("/proc/self/status");
  if (!status) return ::geteuid() == 0;
  constexpr std::string_view key = "\nCapEff:";
  const auto at = status->find(key);
  if (at == std::string::npos) return ::geteuid() == 0;
  auto line = std::string_view(*status).substr(at + key.size());
  line = trimmed(line.substr(0, line.find('\n')));
  std::uint64_t mask = 0;
  const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), mask, 16);
  return code == std::errc{} && (mask >> CAP_NET_ADMIN & 1U) != 0;
}

Command printing(const std::string& program, std::vector<std::string> arguments) {
  return {.program = program,
          .arguments = std::move(arguments),
          .environment = {"LC_ALL=C"},
          .quiet = true};
}

void run_tool(const Command& command, std::chrono::milliseconds timeout, std::string& text,
              std::string& reason) {
  auto printed = output_of(command, timeout, most_rules_text);
  if (printed) {
    text = std::move(*printed);
  } else {
    reason = fmt::format("{}: {}", command.program, printed.error().describe());
  }
}

void read_legacy(const Env& env, const PacketFilterTools& tools, std::chrono::milliseconds timeout,
                 PacketFilterText& out) {
  constexpr const char* tables = "/proc/net/ip_tables_names";
  const auto names = env.read_file(tables);
  if (!names && names.error().code() == ErrorCode::not_found) return;
  if (!names) {
    out.legacy_reason = names.error().describe();
    return;
  }
  if (trimmed(*names, " \n").empty()) return;
  if (tools.legacy.empty()) {
    out.legacy_reason = "the kernel has tables of iptables-legacy, which is not installed";
    return;
  }
  run_tool(printing(tools.legacy, {}), timeout, out.legacy, out.legacy_reason);
}

}  // namespace

PacketFilterTools find_packet_filter_tools() {
  return {.nft = first_runnable("nft"), .legacy = first_runnable("iptables-legacy-save")};
}

PacketFilterText read_packet_filter(const Env& env, const PacketFilterTools& tools,
                                    std::chrono::milliseconds timeout) {
  PacketFilterText out;
  if (!may_administer_network(env)) {
    out.nft_reason = "it needs CAP_NET_ADMIN, which this process has not";
    out.legacy_reason = out.nft_reason;
    return out;
  }
  if (tools.nft.empty()) {
    out.nft_reason = "nft is not installed";
  } else {
    run_tool(printing(tools.nft, {"-j", "list", "ruleset"}), timeout, out.nft, out.nft_reason);
  }
  read_legacy(env, tools, timeout, out);
  return out;
}

}  // namespace stoker::os
