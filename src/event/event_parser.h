// Event stage: what the kernel log and the services beside it say, as typed events. Pure: text in, events
// out. docs/specs/events.md lists the forms that are known, and what is no event.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"

namespace stoker::event {

// One record of a log, without what the log put in front of it.
struct Said {
  std::string_view text;  // may hold line breaks, and several records that ran into one another
  std::string_view
      program;          // who wrote it: "kernel", a program's name; empty where the log has none
  bool kernel = false;  // something in front says that it came from the kernel
};

// Reads one log front to back; what a line adds to an earlier one (the card's UUID, the cgroup that ran out
// of memory, the data of an SXid) needs the order. One thread at a time; memory is bounded.
class EventParser {
 public:
  // Appends the events of `said` to `out`, without time and origin.
  void read(const Said& said, std::vector<Event>& out);

 private:
  struct Card {
    std::string uuid;
    std::string serial;
  };
  struct
      Kill {  // the kernel's "oom-kill:" line, which comes just before the one that names the victim
    std::uint32_t pid = 0;
    std::string constraint;
    std::string cgroup;
  };

  void read_segment(std::string_view text, const Said& said, std::vector<Event>& out);
  std::optional<Event> driver_line(std::string_view text);
  std::optional<Event> switch_line(std::string_view text);
  std::optional<Event> oom_line(std::string_view text);
  bool remember_card(std::string_view text);
  void add_card(Event& event) const;

  std::map<PciAddress, Card> cards_;
  std::optional<PciAddress> last_card_;
  std::optional<PciAddress>
      missing_;  // of a driver's message at probe that goes on in the next lines
  std::map<PciAddress, std::uint32_t> last_sxid_;
  std::optional<Kill> kill_;
};

// Does `text` begin as a line of the kernel does that may become an event?
bool begins_kernel_line(std::string_view text);

}  // namespace stoker::event
