// Test support: a node's story in lines of the kernel log and findings, and the incidents that come of it, a line each.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "event/event_parser.h"
#include "incident/book.h"

namespace stoker::incident {

inline WallTime at(std::int64_t seconds) { return {Seconds(1'700'000'000 + seconds)}; }

class Story {
 public:
  Story() {
    node_.hostname = "node-1";
    node_.boot = "boot-1";
    node_.reading = true;
    node_.driver = DriverVersion::parse("580.65.06");
    for (std::uint32_t n = 0; n < 4; ++n) {
      const auto pci = PciAddress::parse(fmt::format("0000:{:02x}:00.0", 0x10 * (n + 1)));
      node_.gpus.push_back({*pci, fmt::format("GPU-{}", n), fmt::format("serial-{}", n), n, true});
    }
  }
  NodeView& node() { return node_; }
  Book& book() { return book_; }

  // What the kernel logs at that second; {0} to {3} are the GPUs as Xid lines spell them.
  Story& line(std::int64_t second, const std::string& text) {
    std::string said = text;
    for (std::uint32_t n = 0; n < node_.gpus.size(); ++n) {
      const std::string mark = fmt::format("{{{}}}", n);
      for (auto place = said.find(mark); place != std::string::npos; place = said.find(mark)) {
        said.replace(place, mark.size(), node_.gpus[n].pci.xid());
      }
    }
    std::vector<Event> events;
    parser_.read({.text = said, .program = "kernel", .kernel = true}, events);
    for (Event& event : events) {
      event.time = at(second);
      event.origin = {node_.boot, "/dev/kmsg", ++sequence_};
      const auto signal = signal_of(event, node_, at(second));
      if (signal) book_.hear(*signal);
      if (says_recovered(event))
        book_.hear_recovered({EntityKind::gpu, "GPU-" + gpu_of(event)}, at(second));
    }
    return *this;
  }
  // What checks find at that second, all of it.
  Story& found(std::int64_t second, const std::vector<Finding>& findings) {
    std::vector<Signal> signals;
    for (const Finding& finding : findings) {
      if (auto signal = signal_of(finding, node_, at(second))) signals.push_back(*signal);
    }
    book_.find(signals, node_, at(second));
    return *this;
  }
  Story& pass(std::int64_t second) {
    book_.pass(at(second));
    return *this;
  }

  // "open gpu-off-bus gpu:GPU-0 critical reboot x3"; "; " between incidents.
  [[nodiscard]] std::string told() const {
    std::string out;
    for (const auto& one : book_.all()) {
      out += fmt::format("{}{} {} {}:{}{} {} {}{} x{}", out.empty() ? "" : "; ",
                         to_string(one.state), one.cause, to_string(one.entity.kind), one.entity.id,
                         one.subject.empty() ? "" : " of " + one.subject, to_string(one.severity),
                         to_string(one.action), one.action_of_driver ? " (driver)" : "",
                         one.occurrences);
    }
    return out;
  }

 private:
  [[nodiscard]] std::string gpu_of(const Event& event) const {
    for (const auto& gpu : node_.gpus) {
      if (event.pci == gpu.pci) return std::to_string(gpu.index);
    }
    return {};
  }

  NodeView node_;
  event::EventParser parser_;
  Book book_;
  std::uint64_t sequence_ = 0;
};

inline Finding finding_of(const std::string& rule, std::uint32_t gpu,
                          Severity severity = Severity::critical, Action action = Action::reboot) {
  Finding finding;
  finding.rule = rule;
  finding.severity = severity;
  finding.entity = {EntityKind::gpu, fmt::format("GPU-{}", gpu)};
  finding.message = fmt::format("GPU {}: {}", gpu, rule);
  finding.action = action;
  return finding;
}

}  // namespace stoker::incident
