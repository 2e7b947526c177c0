#include "job_ras.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "nccl/words.h"
#include "other_namespace.h"
#include "port_owner.h"
#include "ras_client.h"

namespace stoker::app {
namespace {

// A rank takes some 600 bytes of JSON in each of its communicators: 25,000 of them.
constexpr std::size_t most_said = std::size_t{16} << 20U;

// "localhost" is ::1 to NCCL on most hosts. No name is looked up: a resolver may take long, or tell who asks.
std::vector<std::string> loopback_of(const std::string& host) {
  constexpr std::uint32_t loopback_net = 127;
  in_addr four{};
  in6_addr six{};
  if (host == "localhost" || host == "0.0.0.0" || host == "::") return {"::1", "127.0.0.1"};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1 && ntohl(four.s_addr) >> 24U == loopback_net)
    return {host};
  if (::inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six)) return {host};
  return {};
}

// Who listens on a loopback port may ask who connects, and trust root (tcp(7), the owner match of iptables).
Result<void> give_up_root(const Rights& rights) {
  return ::geteuid() == 0 ? become(rights) : Result<void>();
}

Result<RasAnswers> ask_all(const std::vector<HostPort>& addresses, const JobSockets& sockets,
                           std::chrono::milliseconds timeout, std::chrono::milliseconds between) {
  Error last(ErrorCode::unavailable, "no address");
  for (const auto& address : addresses) {
    const auto its = listens_for(sockets, address);
    if (!its && its.error().code() != ErrorCode::not_found) {
      last = its.error();
      continue;
    }
    auto first = ask_ras(address, timeout, most_said);
    if (!first) {
      // Where one listens and does not answer well, the other address is not the one. What is said of the first that is
      // somebody else's says more than that nobody listens at the second.
      const bool silent = first.error().code() == ErrorCode::unavailable;
      if (!silent || last.code() == ErrorCode::unavailable) last = first.error();
      if (!silent) break;
      continue;
    }
    RasAnswers answers{format_host_port(address), {*std::move(first)}, {}};
    std::this_thread::sleep_for(between);
    auto second = ask_ras(address, timeout, most_said);
    if (second)
      answers.texts.push_back(*std::move(second));
    else
      answers.problem = second.error().describe();
    // Still, or at last: it may have changed hands.
    if (const auto still = listens_for(sockets, address); !still) return fail(still.error());
    return answers;
  }
  return fail(last);
}

}  // namespace

Result<std::vector<HostPort>> ras_addresses_of(const JobProcess& process) {
  if (process.variable("NCCL_RAS_ENABLE") == "0")
    return fail(ErrorCode::invalid_input, "NCCL_RAS_ENABLE=0: it does not listen");
  auto said = process.variable("NCCL_RAS_ADDR");
  if (said.empty()) said = "localhost";
  const auto address = parse_ras_address(said);
  if (!address)
    return fail(ErrorCode::invalid_input,
                fmt::format("NCCL_RAS_ADDR={} is no address", nccl::shown(said, 80)));
  std::vector<HostPort> all;
  for (auto& host : loopback_of(address->host)) all.push_back({std::move(host), address->port});
  if (all.empty())
    return fail(ErrorCode::invalid_input,
                fmt::format("NCCL_RAS_ADDR={} is not loopback, and nothing else is asked",
                            nccl::shown(said, 80)));
  return all;
}

Result<RasAnswers> ask_ras_of(const os::Env& env, const JobProcess& process,
                              const std::vector<JobProcess>& job, std::chrono::milliseconds timeout,
                              std::chrono::milliseconds between) {
  const auto addresses = ras_addresses_of(process);
  if (!addresses) return fail(addresses.error());
  if (!process.network_problem.empty())
    return fail(ErrorCode::no_permission, process.network_problem);
  const auto sockets = sockets_of(env, job);
  Result<RasAnswers> answers = fail(ErrorCode::unavailable, "it was not asked");
  // A thread of its own: rights that are given up don't come back, and the next process may have another network.
  std::thread asker([&] {
    const OtherNamespace network(process.network, "/proc/thread-self/ns/net", CLONE_NEWNET);
    if (!network.entered()) {
      answers = fail(network.entered().error());
      return;
    }
    if (const auto given_up = give_up_root(process.rights); !given_up)
      answers = fail(given_up.error());
    else
      answers = ask_all(*addresses, sockets, timeout, between);
  });
  asker.join();
  return answers;
}

}  // namespace stoker::app
