// Incident stage: the incidents of one node. Signals go in; one incident a cause comes out, with what follows from it
// inside. Pure: no clock, no I/O; the same calls give the same incidents.
//
// What belongs together:
// - The same cause about the same thing (of a program's faults: of the same program) is one incident until it is over.
// - Within two minutes of the last that was seen, what follows from an incident's cause (incident/cause.h) is part of
//   it: on the same GPU; on another what its link to this one says, and what the same job's programs say. What the
//   incident's cause follows from takes it over, on the same GPU alone: it then has that cause. A fault of a card is
//   never hidden in another card's incident.
// - What gets worse than people knew when they acknowledged or suppressed it is open again.
// - Two causes of one family on one GPU are one incident, named after the higher rank; programs apart.
// - The driver's own word on what to do (Xid 154, NVML's recovery action) stands above the catalogue's.
// How it ends: when what it stood on (findings; Cause::stands) is over, it is `proving`. When then nothing was seen for
// as long as its cause says, it is resolved. Seen again before that, it is open again; after that, there is a new one,
// which counts the earlier ones of that cause on that card. What is not known is not over: findings about a GPU that
// does not answer hold, and so does what stands, until the GPU answers after a reset or in another boot.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "incident/signal.h"
#include "model/incident.h"

namespace stoker::incident {

// Whatever happens, this is all that is kept.
struct BookLimits {
  static constexpr std::size_t unresolved = 1024;
  static constexpr std::size_t resolved = 256;
  static constexpr std::size_t first_evidence = 16;  // of an incident
  static constexpr std::size_t last_evidence = 48;
  static constexpr std::size_t timeline = 128;
  static constexpr std::size_t programs = 64;
  static constexpr std::size_t recalled = 16;  // of one thing
  static constexpr std::size_t recalled_things = 256;
  static constexpr std::size_t text_bytes = 1024;
};

// What people may do to an incident.
struct Request {
  IncidentState to = IncidentState::acknowledged;  // not proving
  std::string who;
  std::string note;                         // why; may be empty
  std::optional<Nanoseconds> for_how_long;  // of suppressed
};

class Book {
 public:
  // What was kept before a restart. Nothing of it counts as changed.
  void restore(std::vector<Incident> incidents);

  // An event.
  void hear(const Signal& said);
  // An event from before this book was kept: no incident of its own, and evidence for one that opens on the same thing.
  void recall(const Signal& signal);
  // What was said of one thing at the end of an earlier boot, `about.boot`, oldest first. Where an incident of that boot
  // is about the same thing, what it does not have yet becomes evidence of it; else `about` is an event as others are.
  void hear_of_earlier_boot(const Signal& about, const std::vector<Evidence>& lines, WallTime now);
  // The driver says that this GPU needs nothing any more.
  void hear_recovered(const Entity& gpu, WallTime at);
  // Would it join an incident that people have been told of and that holds?
  [[nodiscard]] bool has_home(const Signal& said, WallTime now) const;
  // Is there one about it that people have been told of and that holds?
  [[nodiscard]] bool has_open(const Entity& entity) const;
  // All that is found now, with what is known of the node.
  void find(std::span<const Signal> signals, const NodeView& node, WallTime now);
  // Time has passed.
  void pass(WallTime now);
  // What was so at their opening, and later: asks `due` of each, and keeps what it gives.
  void look(const std::function<std::optional<Look>(const Incident&)>& due);
  // What was found out about what an incident that holds a finding of `concerns` is about: `lines` become evidence of it,
  // and `explanation`, where there is one, says why. False: there is none that is not over.
  bool add_account(const std::function<bool(const Finding&)>& concerns,
                   const std::vector<std::string>& lines, const std::string& explanation,
                   WallTime now);
  // invalid_input: there is no such incident, or it can't go there.
  Result<Incident> request(std::uint64_t id, const Request& request, WallTime now);

  // Those that changed since the last call; with the next revision where it is something that people are told: state,
  // cause, what it is about (address and serial number too), severity, action. One more line of a storm is not.
  std::vector<Incident> take_changed(WallTime now);
  // Oldest first: those that are not over, and the last that are.
  [[nodiscard]] std::vector<Incident> all() const;
  // The one with this id; empty: it is not here.
  [[nodiscard]] std::vector<Incident> one(std::uint64_t id) const;
  // What found no room any more; only rises.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  [[nodiscard]] Signal of_known_card(Signal signal) const;
  Incident* home_of(const Signal& signal);
  Incident* of_earlier_boot(const Signal& about, const std::vector<Evidence>& lines);
  Incident& open(const Signal& signal);
  void join(Incident& incident, const Signal& signal);
  void take_over(Incident& incident, const Signal& signal);
  void hold_finding(Incident& incident, const Signal& signal);
  void let_go(Incident& incident, const std::set<std::pair<std::string, Entity>>& found,
              const NodeView& node, WallTime now);
  void stand_no_more(Incident& incident, const std::string& why, WallTime now);
  void add_evidence(Incident& incident, WallTime at, const std::string& text);
  void note(Incident& incident, WallTime at, std::string who, std::string what);
  void be(Incident& incident, IncidentState state, WallTime now);
  void prove(Incident& incident, WallTime now);
  void pass(Incident& incident, WallTime now);
  void make_room();
  [[nodiscard]] std::uint64_t earlier(const Signal& signal) const;

  std::map<std::uint64_t, Incident> incidents_;  // by id
  std::uint64_t last_id_ = 0;
  std::set<std::uint64_t> changed_;
  std::map<std::uint64_t, std::string> told_;  // by id, of the last revision
  std::map<Entity, std::vector<Evidence>> recalled_;
  std::uint64_t dropped_ = 0;
};

}  // namespace stoker::incident
