#include "cluster/launch.h"

#include <optional>

#include "base/text.h"

namespace stoker::cluster {
namespace {

constexpr std::size_t longest_id = 128;

using Environment = std::map<std::string, std::string>;

std::string word_in(const Environment& environment, const char* name) {
  const auto at = environment.find(name);
  if (at == environment.end() || at->second.size() > longest_id) return {};
  const bool printable =
      at->second.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:-_@") ==
      std::string::npos;
  return printable ? at->second : std::string();
}

std::optional<std::uint32_t> count_in(const Environment& environment, const char* name) {
  const auto at = environment.find(name);
  if (at == environment.end()) return std::nullopt;
  return whole_number<std::uint32_t>(at->second);
}

bool is_this_host(std::string_view address) {
  return address == "localhost" || address.starts_with("127.") || address == "::1";
}

}  // namespace

Launch launch_of(const CgroupOwner& cgroup, const Environment& environment) {
  Launch launch;
  const std::string address = word_in(environment, "MASTER_ADDR");
  const std::string port = word_in(environment, "MASTER_PORT");
  const std::string space = word_in(environment, "PMIX_NAMESPACE");
  if (!address.empty() && !port.empty()) {
    launch.id = address + ":" + port;
    if (is_this_host(address) && !cgroup.container_id.empty()) {
      launch.id += " in " + cgroup.container_id.substr(0, 12);
    }
    launch.rank = count_in(environment, "RANK");
    launch.ranks = count_in(environment, "WORLD_SIZE").value_or(0);
  } else if (!space.empty()) {
    launch.id = space;
    launch.ranks = count_in(environment, "OMPI_COMM_WORLD_SIZE").value_or(0);
  }
  if (!launch.rank) launch.rank = count_in(environment, "OMPI_COMM_WORLD_RANK");
  if (!launch.rank) launch.rank = count_in(environment, "SLURM_PROCID");
  if (launch.ranks == 0) launch.ranks = count_in(environment, "SLURM_NTASKS").value_or(0);
  if (launch.ranks == 1) return {};
  return launch;
}

}  // namespace stoker::cluster
