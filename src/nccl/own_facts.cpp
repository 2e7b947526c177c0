#include "nccl/own_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "nccl/job.h"

namespace stoker::nccl {
namespace {

std::string_view short_host(std::string_view host) { return host.substr(0, host.find('.')); }

bool is_of(const OwnJob& own, const Process& process) {
  return std::ranges::any_of(own.processes, [&](const OwnProcess& each) {
    return !each.host.empty() && each.calls_itself(process.pid) &&
           short_host(each.host) == short_host(process.host);
  });
}

// Of each process: is it the job's?
std::vector<bool> own_processes(const Facts& facts, const OwnJob& own) {
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_communicator;
  std::vector<bool> mine(facts.processes.size(), false);
  std::vector<std::uint32_t> to_follow;
  for (std::uint32_t i = 0; i < facts.processes.size(); ++i) {
    for (const auto& comm : facts.processes[i].comms) {
      if (comm.id != 0) by_communicator[comm.id].push_back(i);
    }
    mine[i] = is_of(own, facts.processes[i]);
    if (mine[i]) to_follow.push_back(i);
  }
  while (!to_follow.empty()) {
    const auto index = to_follow.back();
    to_follow.pop_back();
    for (const auto& comm : facts.processes[index].comms) {
      const auto with_it = std::exchange(by_communicator[comm.id], {});
      for (const auto other : with_it) {
        if (mine[other]) continue;
        mine[other] = true;
        to_follow.push_back(other);
      }
    }
  }
  return mine;
}

// Who speaks in a file, as far as processes say who they are.
struct Speakers {
  std::map<std::uint64_t, bool> begins;  // of communicators, by order: are they the job's?
  std::uint64_t first_own = 0;           // order of the job's first line
  bool own = false;
  bool others = false;
};

class Sieve {
 public:
  Sieve(Facts& facts, const OwnJob& own)
      : facts_(facts), own_(own), mine_(own_processes(facts, own)), speakers_(facts.files.size()) {
    for (std::uint32_t i = 0; i < facts.processes.size(); ++i) listen_to(facts.processes[i], i);
  }

  std::vector<std::string> run() {
    sift(facts_.hits, [this](const Hit& hit) {
      return hit.process ? static_cast<bool>(mine_[*hit.process]) : is_own(hit.place);
    });
    const auto by_place = [this](const auto& said) { return is_own(said.place); };
    sift(facts_.watches, by_place);
    sift(facts_.desyncs, by_place);
    sift(facts_.exits, by_place);
    sift(facts_.exceptions, by_place);
    std::erase_if(facts_.progress, [this](const Place& place) { return !is_own(place); });
    std::erase_if(facts_.ends, [this](const Place& place) { return !is_own(place); });
    sift_dumps();
    drop_processes();
    return names_of_left_out();
  }

 private:
  void listen_to(const Process& process, std::uint32_t index) {
    Speakers& here = speakers_[process.file];
    if (!mine_[index]) {
      here.others = true;
      left_out_.insert(process.file);
    } else {
      here.first_own = here.own ? std::min(here.first_own, process.first) : process.first;
      here.own = true;
    }
    for (const auto& comm : process.comms)
      speakers_[comm.place.file].begins.emplace(comm.place.order, mine_[index]);
  }

  [[nodiscard]] bool is_own(const Place& place) const {
    const Speakers& here = speakers_[place.file];
    if (!here.begins.empty()) {
      auto after = here.begins.upper_bound(place.order);
      if (after != here.begins.begin()) --after;
      return after->second || (here.own && !here.others);
    }
    if (!here.others) return here.own || own_.files.contains(place.file);
    return here.own && own_.files.contains(place.file) && place.order >= here.first_own;
  }

  template <typename Fact, typename IsOwn>
  void sift(std::vector<Fact>& said, const IsOwn& is_kept) {
    std::erase_if(said, [&](const Fact& each) {
      if (is_kept(each)) return false;
      left_out_.insert(each.place.file);
      return true;
    });
  }

  void sift_dumps() {
    std::set<std::string> names;
    for (const auto file : own_.files) names.insert(name_without_numbers(facts_.files[file].name));
    std::erase_if(facts_.dumps, [&](const Dump& dump) {
      const bool named_alike = names.contains(name_without_numbers(facts_.files[dump.file].name));
      if (named_alike || !facts_.watches.empty()) return false;
      left_out_.insert(dump.file);
      return true;
    });
  }

  void drop_processes() {
    std::vector<Process> kept;
    std::vector<std::uint32_t> now(facts_.processes.size(), 0);
    for (std::uint32_t i = 0; i < facts_.processes.size(); ++i) {
      if (!mine_[i]) continue;
      now[i] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(std::move(facts_.processes[i]));
    }
    facts_.processes = std::move(kept);
    for (auto& hit : facts_.hits) {
      if (hit.process) hit.process = now[*hit.process];
    }
    // They know the places of what there was.
    facts_.process_of.clear();
    facts_.hit_of.clear();
  }

  [[nodiscard]] std::vector<std::string> names_of_left_out() const {
    std::vector<std::string> names;
    names.reserve(left_out_.size());
    for (const auto file : left_out_) {
      const Speakers& here = speakers_[file];
      names.push_back(fmt::format("{}: {}", facts_.files[file].name,
                                  here.own      ? "what others than this job say in it"
                                  : here.others ? "of other processes than this job's"
                                                : "nothing in it says whose it is"));
    }
    return names;
  }

  Facts& facts_;
  const OwnJob& own_;
  const std::vector<bool> mine_;    // by process
  std::vector<Speakers> speakers_;  // by file
  std::set<std::uint32_t> left_out_;
};

}  // namespace

std::vector<std::string> keep_own_facts(Facts& facts, const OwnJob& own) {
  return Sieve(facts, own).run();
}

}  // namespace stoker::nccl
