#include "nccl/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "nccl/words.h"

namespace stoker::nccl {
namespace {

std::string folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == npos ? std::string() : std::string(path.substr(0, slash));
}

// The folder of a job's files: torchrun has one a rank below it ("attempt_0/3/stderr.log"), others "rank_3/".
std::string job_folder(std::string_view path) {
  std::string folder = folder_of(path);
  while (true) {
    const auto slash = folder.rfind('/');
    std::string_view last =
        std::string_view(folder).substr(slash == std::string::npos ? 0 : slash + 1);
    if (last.starts_with("rank")) last.remove_prefix(4);
    if (!last.empty() && (last.front() == '_' || last.front() == '-')) last.remove_prefix(1);
    if (slash == std::string::npos || last.empty() ||
        !std::all_of(last.begin(), last.end(), is_digit))
      return folder;
    folder.resize(slash);
  }
}

bool lies_below(std::string_view folder, std::string_view top) {
  if (top.empty()) return !folder.empty() && folder.front() != '/';
  return folder.size() > top.size() && folder.starts_with(top) && folder[top.size()] == '/';
}

class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  std::uint32_t find(std::uint32_t at) {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    parent_[std::max(find(a), find(b))] = std::min(find(a), find(b));
  }

 private:
  std::vector<std::uint32_t> parent_;
};

class Sorter {
 public:
  explicit Sorter(const Facts& facts) : facts_(facts), sets_(facts.processes.size()) {}

  std::vector<Job> run() {
    join_by_communicator();
    join_the_silent();
    make_jobs();
    place_files();
    place_facts();
    place_dumps();
    place_ras();
    for (auto& job : jobs_) name_ranks(job);
    return std::move(jobs_);
  }

 private:
  struct Seen {
    std::uint32_t process;
    const CommRank* comm;
  };

  // Before NCCL 2.18 a communicator has no id: there, one folder's ranks 0 to N-1 are one, until a rank comes again.
  void join_by_communicator() {
    std::vector<Seen> seen;
    for (std::uint32_t i = 0; i < facts_.processes.size(); ++i) {
      for (const auto& comm : facts_.processes[i].comms) seen.push_back({i, &comm});
    }
    std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) {
      return a.comm->place.order < b.comm->place.order;
    });
    std::map<std::uint64_t, std::uint32_t> by_id;
    std::map<std::pair<std::string, int>, std::map<int, std::uint32_t>> by_size;
    for (const auto& each : seen) {
      if (each.comm->id != 0) {
        sets_.join(by_id.try_emplace(each.comm->id, each.process).first->second, each.process);
        continue;
      }
      const auto folder = job_folder(facts_.files[each.comm->place.file].name);
      auto& ranks = by_size[{folder, each.comm->size}];
      const auto before = ranks.find(each.comm->rank);
      if (before != ranks.end() && before->second != each.process) ranks.clear();
      if (!ranks.empty()) sets_.join(ranks.begin()->second, each.process);
      ranks[each.comm->rank] = each.process;
    }
  }

  // A process that shows no communicator goes with the others of its file.
  void join_the_silent() {
    std::map<std::uint32_t, std::uint32_t>
        speaks;  // file -> a process there that has one, or else any
    for (std::uint32_t i = 0; i < facts_.processes.size(); ++i) {
      const auto& process = facts_.processes[i];
      const auto [at, fresh] = speaks.try_emplace(process.file, i);
      if (!fresh && facts_.processes[at->second].comms.empty() && !process.comms.empty())
        at->second = i;
    }
    for (std::uint32_t i = 0; i < facts_.processes.size(); ++i) {
      if (facts_.processes[i].comms.empty()) sets_.join(speaks[facts_.processes[i].file], i);
    }
  }

  void make_jobs() {
    std::map<std::uint32_t, std::size_t> of_set;
    for (std::uint32_t i = 0; i < facts_.processes.size(); ++i) {
      const auto [at, fresh] = of_set.try_emplace(sets_.find(i), jobs_.size());
      if (fresh) jobs_.emplace_back();
      Job& job = jobs_[at->second];
      job.processes.push_back(i);
      job.files.insert(facts_.processes[i].file);
      job_of_process_.push_back(at->second);
      for (const auto& comm : facts_.processes[i].comms) {
        job.files.insert(comm.place.file);
        begins_[comm.place.file].emplace(comm.place.order, at->second);
        if (comm.size > job.size) {
          job.size = comm.size;
          job.communicator = comm.id;
        }
      }
    }
    // Processes without any communicator can't be told apart: those of one folder are one job.
    merge_nameless();
    for (auto& job : jobs_) {
      job.told_by = job.communicator != 0
                        ? fmt::format("by its communicator 0x{:x}", job.communicator)
                        : "by its files";
    }
  }

  void merge_nameless() {
    std::map<std::string, std::size_t> of_folder;
    std::vector<std::size_t> target(jobs_.size());
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      target[i] = i;
      if (jobs_[i].size > 0) continue;
      const auto folder = job_folder(facts_.files[*jobs_[i].files.begin()].name);
      target[i] = of_folder.try_emplace(folder, i).first->second;
    }
    std::vector<Job> kept;
    std::vector<std::size_t> now(jobs_.size());
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (target[i] == i) {
        now[i] = kept.size();
        kept.push_back(std::move(jobs_[i]));
        continue;
      }
      now[i] = now[target[i]];
      Job& into = kept[now[i]];
      into.processes.insert(into.processes.end(), jobs_[i].processes.begin(),
                            jobs_[i].processes.end());
      into.files.insert(jobs_[i].files.begin(), jobs_[i].files.end());
    }
    jobs_ = std::move(kept);
    for (auto& job : job_of_process_) job = now[job];
    for (auto& [file, begins] : begins_) {
      for (auto& [order, job] : begins) job = now[job];
    }
  }

  [[nodiscard]] std::set<std::uint32_t> telling_files() const {
    std::set<std::uint32_t> files;
    const auto note = [&](const auto& list) {
      for (const auto& each : list) files.insert(each.place.file);
    };
    note(facts_.hits);
    note(facts_.watches);
    note(facts_.desyncs);
    note(facts_.exits);
    note(facts_.exceptions);
    return files;
  }

  // Files in which no communicator shows: to the job of their folder, or a job by their folder.
  void place_files() {
    of_file_.assign(facts_.files.size(), nowhere);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      for (const auto file : jobs_[i].files) of_file_[file] = i;
    }
    const auto jobs_here = jobs_of_folders();
    const auto telling = telling_files();
    std::set<std::string> folders;
    for (const auto file : telling) {
      if (of_file_[file] == nowhere) folders.insert(job_folder(facts_.files[file].name));
    }
    std::map<std::string, std::size_t> of_folder;
    for (const auto file : telling) {
      if (of_file_[file] != nowhere) continue;
      const auto folder = job_folder(facts_.files[file].name);
      std::size_t job = job_in_folder(folder, jobs_here);
      if (job == nowhere) {
        const auto [at, fresh] =
            of_folder.try_emplace(with_its_ranks(folder, folders), jobs_.size());
        if (fresh) {
          jobs_.emplace_back();
          jobs_.back().told_by = "by its folder, as its logs show no communicator";
        }
        job = at->second;
      }
      of_file_[file] = job;
      jobs_[job].files.insert(file);
    }
  }

  // A launcher's log lies above the one folder that its ranks' logs are in.
  static std::string with_its_ranks(const std::string& folder,
                                    const std::set<std::string>& folders) {
    std::string below;
    for (const auto& each : folders) {
      if (!lies_below(each, folder)) continue;
      if (!below.empty()) return folder;
      below = each;
    }
    return below.empty() ? folder : below;
  }

  using JobsOfFolders = std::map<std::string, std::set<std::size_t>>;

  [[nodiscard]] JobsOfFolders jobs_of_folders() const {
    std::vector<std::string> folders;
    folders.reserve(facts_.files.size());
    for (const auto& file : facts_.files) folders.push_back(job_folder(file.name));
    JobsOfFolders out;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      for (const auto file : jobs_[i].files) out[folders[file]].insert(i);
    }
    return out;
  }

  // The one job of that folder; or where none is there, the one above or below it.
  static std::size_t job_in_folder(const std::string& folder, const JobsOfFolders& jobs) {
    if (const auto here = jobs.find(folder); here != jobs.end())
      return here->second.size() == 1 ? *here->second.begin() : nowhere;
    std::set<std::size_t> near;
    for (const auto& [other, its] : jobs) {
      if (lies_below(other, folder) || lies_below(folder, other))
        near.insert(its.begin(), its.end());
      if (near.size() > 1) return nowhere;
    }
    return near.empty() ? nowhere : *near.begin();
  }

  // In a file of several jobs, a line without a process is of the job that last began before it.
  [[nodiscard]] std::size_t job_at(const Place& place) const {
    const auto begins = begins_.find(place.file);
    if (begins == begins_.end() || begins->second.empty()) return of_file_[place.file];
    auto after = begins->second.upper_bound(place.order);
    if (after != begins->second.begin()) --after;
    return after->second;
  }

  void place_facts() {
    const auto put = [&](const auto& list, auto member) {
      for (std::uint32_t i = 0; i < list.size(); ++i) {
        const auto job = job_at(list[i].place);
        if (job != nowhere) (jobs_[job].*member).push_back(i);
      }
    };
    for (std::uint32_t i = 0; i < facts_.hits.size(); ++i) {
      const auto& hit = facts_.hits[i];
      const auto job = hit.process ? job_of_process_[*hit.process] : job_at(hit.place);
      if (job == nowhere) continue;
      jobs_[job].hits.push_back(i);
      jobs_[job].files.insert(hit.place.file);
    }
    put(facts_.watches, &Job::watches);
    put(facts_.desyncs, &Job::desyncs);
    put(facts_.exits, &Job::exits);
    put(facts_.exceptions, &Job::exceptions);
    for (const auto& place : facts_.progress) {
      if (const auto job = job_at(place); job != nowhere) ++jobs_[job].progress;
    }
    for (const auto& place : facts_.ends) {
      if (const auto job = job_at(place); job != nowhere) ++jobs_[job].ends;
    }
    // A kernel log tells of a host: which job ran there is seen by the GPU's address.
    for (auto& job : jobs_) job.kernel = true;
  }

  void place_dumps() {
    // Dumps named alike are of one job, until a rank comes twice.
    std::vector<std::vector<std::uint32_t>> sets;
    std::map<std::string, std::size_t> of_name;
    std::vector<std::set<int>> ranks;
    for (std::uint32_t i = 0; i < facts_.dumps.size(); ++i) {
      const auto name = name_without_numbers(facts_.files[facts_.dumps[i].file].name);
      auto at = of_name.try_emplace(name, sets.size()).first;
      const int rank = facts_.dumps[i].rank.value_or(-1);
      if (at->second < sets.size() && ranks[at->second].contains(rank)) at->second = sets.size();
      if (at->second == sets.size()) {
        sets.emplace_back();
        ranks.emplace_back();
      }
      sets[at->second].push_back(i);
      ranks[at->second].insert(rank);
    }
    const std::size_t known = jobs_.size();
    for (const auto& set : sets) {
      auto job = job_of_dumps(set, known, sets.size());
      if (job == nowhere) {
        job = jobs_.size();
        jobs_.emplace_back();
        jobs_.back().told_by = "by the names of its dumps";
      }
      for (const auto dump : set) {
        jobs_[job].dumps.push_back(dump);
        jobs_[job].files.insert(facts_.dumps[dump].file);
      }
    }
  }

  // The job whose log says of each rank the same as these dumps do; where there is but one of each, that one.
  [[nodiscard]] std::size_t job_of_dumps(const std::vector<std::uint32_t>& set, std::size_t known,
                                         std::size_t sets) const {
    std::size_t best = nowhere;
    for (std::size_t i = 0; i < known; ++i) {
      const Job& job = jobs_[i];
      int agrees = 0;
      int differs = 0;
      for (const auto watch : job.watches) compare(facts_.watches[watch], set, agrees, differs);
      const bool only = known == 1 && sets == 1 && job.watches.empty();
      if (differs > 0 || (agrees == 0 && !only)) continue;
      if (best != nowhere) return nowhere;
      best = i;
    }
    return best;
  }

  void compare(const Watch& watch, const std::vector<std::uint32_t>& set, int& agrees,
               int& differs) const {
    if (!watch.enqueued) return;
    for (const auto index : set) {
      const auto& dump = facts_.dumps[index];
      if (dump.rank != watch.rank) continue;
      for (const auto& [name, group] : dump.groups) {
        if (!watch.group.starts_with(name + "(") && watch.group != name && dump.groups.size() > 1)
          continue;
        const auto& state = group.ranks.begin()->second;
        if (state.entered == watch.enqueued && state.completed == watch.completed)
          ++agrees;
        else
          ++differs;
      }
    }
  }

  void place_ras() {
    std::map<std::uint64_t, std::size_t> of_hash;
    const auto of_communicator = jobs_of_communicators();
    const std::size_t known = jobs_.size();
    for (std::uint32_t i = 0; i < facts_.ras.size(); ++i) {
      std::uint64_t hash = 0;
      std::size_t job = nowhere;
      for (const auto& group : facts_.ras[i].groups) {
        const auto id = hex_behind(group.name, "").value_or(0);
        hash = hash != 0 ? hash : id;
        const auto with_it = of_communicator.find(id);
        if (job == nowhere && with_it != of_communicator.end()) job = with_it->second;
      }
      if (job == nowhere && known == 1 && jobs_[0].communicator == 0) job = 0;
      if (job == nowhere) {
        const auto [at, fresh] = of_hash.try_emplace(hash, jobs_.size());
        if (fresh) {
          jobs_.emplace_back();
          jobs_.back().told_by = fmt::format("by its communicator 0x{:x}", hash);
        }
        job = at->second;
      }
      jobs_[job].ras.push_back(i);
      jobs_[job].files.insert(facts_.ras[i].file);
    }
    if (jobs_.empty()) {
      jobs_.emplace_back();
      for (std::uint32_t file = 0; file < facts_.files.size(); ++file)
        jobs_.back().files.insert(file);
      jobs_.back().kernel = true;
    }
  }

  [[nodiscard]] std::unordered_map<std::uint64_t, std::size_t> jobs_of_communicators() const {
    std::unordered_map<std::uint64_t, std::size_t> out;
    if (facts_.ras.empty()) return out;
    for (std::uint32_t i = 0; i < facts_.processes.size(); ++i) {
      for (const auto& comm : facts_.processes[i].comms) {
        if (comm.id != 0) out.try_emplace(comm.id, job_of_process_[i]);
      }
    }
    return out;
  }

  void name_ranks(Job& job) const {
    for (const auto index : job.processes) {
      const auto& process = facts_.processes[index];
      for (const auto& comm : process.comms) {
        if (comm.size != job.size || (job.communicator != 0 && comm.id != job.communicator))
          continue;
        auto& rank = job.ranks[comm.rank];
        rank.process = index;
        rank.host = process.host;
        rank.bus = comm.bus;
        rank.device = comm.device;
        rank.complete = rank.complete || comm.complete;
      }
    }
    index_ranks(job);
    for (const auto index : job.processes) {
      const auto& process = facts_.processes[index];
      if (!process.front_rank || rank_of(job, facts_, index)) continue;
      auto& rank = job.ranks[*process.front_rank];
      rank.process = index;
      rank.host = process.host;
    }
    index_ranks(job);
    for (const auto index : job.dumps) {
      for (const auto& [name, group] : facts_.dumps[index].groups)
        job.size = std::max(job.size, group.size);
    }
    for (const auto index : job.ras) {
      for (const auto& group : facts_.ras[index].groups) job.size = std::max(job.size, group.size);
    }
  }

  void index_ranks(Job& job) const {
    job.rank_of_process.clear();
    for (const auto& [rank, info] : job.ranks) {
      if (info.process) job.rank_of_process.try_emplace(*info.process, rank);
    }
    job.alone_in.clear();
    std::set<std::uint32_t> shared;
    for (const auto index : job.processes) {
      const auto file = facts_.processes[index].file;
      if (!job.alone_in.try_emplace(file, index).second) shared.insert(file);
    }
    for (const auto file : shared) job.alone_in.erase(file);
  }

  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

  const Facts& facts_;
  Sets sets_;
  std::vector<Job> jobs_;
  std::vector<std::size_t> job_of_process_;
  std::vector<std::size_t> of_file_;
  std::map<std::uint32_t, std::map<std::uint64_t, std::size_t>> begins_;  // file -> order -> job
};

}  // namespace

std::string name_without_numbers(std::string_view path) {
  std::string out;
  for (const char c : path.substr(path.rfind('/') == npos ? 0 : path.rfind('/'))) {
    if (!is_digit(c))
      out += c;
    else if (!out.ends_with('#'))
      out += '#';
  }
  return folder_of(path) + out;
}

std::vector<Job> find_jobs(const Facts& facts) { return Sorter(facts).run(); }

std::optional<int> rank_of(const Job& job, const Facts& facts, std::uint32_t process) {
  if (const auto known = job.rank_of_process.find(process); known != job.rank_of_process.end())
    return known->second;
  return facts.processes[process].comms.empty() ? facts.processes[process].front_rank
                                                : std::nullopt;
}

}  // namespace stoker::nccl
