// NCCL analyzer: what logs, dumps and RAS answers say, before anybody judges. Built by LogReader, flight.h and ras.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "event/log_scan.h"
#include "nccl/sign.h"

namespace stoker::nccl {

// Of one job or communicator: a larger number counts no ranks. Our choice.
constexpr int most_ranks = 1'000'000;

// Where something was said.
struct Place {
  std::uint32_t file = 0;      // index into Facts::files
  std::uint64_t line = 0;      // from 1; 0: the file has no lines
  std::uint64_t order = 0;     // counts what was read, over all files
  std::optional<double> when;  // seconds_of_year()
  std::string text;
};

struct FileFacts {
  std::string name;
  std::uint64_t lines = 0;
  std::string damage;                // what could not be read of it; empty: all was
  bool kernel = false;               // it has events of a kernel log
  std::optional<double> first_when;  // seconds_of_year() of the first line that has a time
  std::uint64_t first_when_line = 0;
  bool foreign = false;  // it is neither text nor a dump, and was passed over
};

// A communicator as one process sees it.
struct CommRank {
  std::uint64_t id = 0;  // commId; 0: before NCCL 2.18 none is printed
  std::uint64_t pointer = 0;
  int rank = -1;
  int size = 0;
  std::string bus;  // "90000", as NCCL prints it
  int device = -1;
  bool started = false;
  bool complete = false;
  bool destroyed = false;
  Place place;
};

// A collective as a rank called it. Sizes count elements; -1: not said.
struct Op {
  std::string name;  // "ALLREDUCE", "all_reduce", "AllReduce": as said
  std::int64_t in = -1;
  std::int64_t out = -1;
  std::string detail;  // data type, shapes
  friend bool operator==(const Op&, const Op&) = default;
};

// A process that prints lines of NCCL. Known by host and process id.
struct Process {
  std::string host;
  std::uint32_t pid = 0;
  std::uint32_t file = 0;   // the first that it was seen in
  std::uint64_t first = 0;  // Place::order of its first line
  std::optional<int> front_rank;
  std::string version;
  std::string network;                     // "IB", "Socket"
  std::string bootstrap;                   // "eth0:192.0.2.2<0>"
  std::map<std::string, std::string> env;  // that NCCL says was set
  std::vector<CommRank> comms;
  bool connected = false;
  bool roce = false;          // one of its ports is RoCE
  bool infiniband = false;    // one of its ports is InfiniBand
  bool over_network = false;  // a channel goes over the network
  bool gpu_direct = false;    // and GPU Direct RDMA is used on one
  Place last;                 // its last line
  // Of collectives that NCCL logs (NCCL_DEBUG_SUBSYS=COLL): communicator's pointer -> call number -> call.
  std::map<std::uint64_t, std::map<std::uint64_t, Op>> calls;
};

// A line that means something by the table of signs.
struct Hit {
  const Sign* sign = nullptr;
  std::optional<std::uint32_t> process;  // index into Facts::processes
  std::optional<int> rank;               // said by the line's front
  std::vector<int> named_ranks;          // by its text; of missing_rank those that wait
  std::string peer;                      // address or host that it names
  std::uint64_t count = 1;               // how often the same process said so
  std::string source;                    // file of NCCL's source that said so, without its line
  Place place;
};

// What torch's watchdog and monitor say of one rank and one process group.
struct Watch {
  int rank = -1;
  std::string group;                      // "0(default_pg)", "9"; empty: that version does not say
  std::optional<std::int64_t> timed_out;  // sequence number of the collective that timed out
  Op op;
  double ran_seconds = 0;
  std::optional<std::int64_t> enqueued, completed;
  Place place;
};

// "[0, 2] finished collective #14, but didn't join collective #15": what torch worked out itself.
struct DesyncReport {
  std::vector<int> ranks;
  Place place;
};

// A process that a launcher saw end.
struct Exit {
  std::optional<int> rank;
  std::string host;
  std::uint32_t pid = 0;
  int code = 0;        // negative: killed by that signal
  bool first = false;  // the launcher says that it was the first
  Place place;
};

// The first exception of a rank.
struct Exception {
  std::optional<int> rank;
  std::string type;
  std::string message;
  bool consequence = false;  // it only tells that somebody else failed
  Place place;
};

struct KernelEvent {
  event::FoundEvent found;
  std::uint32_t file = 0;
};

// What one rank says of one process group, whether by a dump or by RAS.
struct RankState {
  std::optional<std::int64_t> entered, completed;  // sequence numbers
  std::optional<std::int64_t> timed_out;           // the one that a watchdog gave up
  std::optional<double> since;     // seconds_of_year() when it began to wait in that one
  std::map<std::int64_t, Op> ops;  // the last ones, by sequence number
  std::string host;
  std::uint32_t pid = 0;
  Place place;                // where it says how far it is
  std::optional<Place> call;  // where it says what it waits in
};
enum class StateSource : std::uint8_t { log, dump, ras };
struct GroupStates {
  std::string name;
  StateSource source = StateSource::log;
  int size = 0;              // 0: not known
  std::vector<int> members;  // where they are known
  std::map<int, RankState> ranks;
  int answers = 1;      // RAS: how many answers told of it; the last one counts
  bool moved = false;   // RAS: every rank called more between two answers
  std::set<int> gone;   // RAS: their process does not answer, or is considered dead
  std::string counted;  // RAS: the operation whose counts differ
  std::map<std::int64_t, std::int64_t>
      counts;  // RAS's text: how many ranks, not all named, had launched so many
};

// Sends from one rank of a group to another, or receives, as the one that issued them says.
struct Transfers {
  std::string group;
  int from = 0;
  int to = 0;
  bool receives = false;  // those of `to`; else the sends of `from`
  std::int64_t issued = 0;
  bool waits = false;  // the last one is not completed
};

struct Dump {  // of the flight recorder, of one rank
  std::uint32_t file = 0;
  std::optional<int> rank;
  std::string version, nccl_version;
  std::map<std::string, GroupStates> groups;  // each with this rank alone
  std::vector<Transfers> transfers;
  bool whole = false;  // it begins with the first call of all: nothing has left the ring
  bool ends_in_transfer =
      false;  // its last call is a send or a receive, or a batch of them, and is not completed
};

struct RasAnswer {
  std::uint32_t file = 0;
  std::uint64_t line = 0;
  std::string nccl_version;
  bool whole = false;  // it has its end
  std::vector<GroupStates> groups;
  std::vector<std::string> said;  // lines under "Errors" and "Warnings"
};

struct Facts {
  std::vector<FileFacts> files;
  std::vector<Process> processes;
  std::vector<Hit> hits;
  std::vector<Watch> watches;
  std::vector<DesyncReport> desyncs;
  std::vector<Exit> exits;
  std::vector<Exception> exceptions;
  std::vector<KernelEvent> kernel;
  std::vector<Dump> dumps;
  std::vector<RasAnswer> ras;
  std::vector<Place> progress;  // lines that show that a job went on
  std::vector<Place> ends;      // lines that show that a job, or a rank, ended as it should
  std::uint64_t order = 0;
  std::unordered_map<std::size_t, std::size_t>
      hit_of;  // add_hit(): where in `hits` the same was said before
  std::unordered_multimap<std::size_t, std::uint32_t>
      process_of;               // NcclReader: where in `processes`, by hash of host and number
  std::uint64_t left_out = 0;   // signs beyond what is kept
  bool exits_left_out = false;  // more processes ended than are kept
};

}  // namespace stoker::nccl
