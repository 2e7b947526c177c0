// Test support: an event in one line, so that tables of lines read beside what is made of them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "event/event_parser.h"

namespace stoker::event {

// "xid 13 0000:3b:00.0 pid=12 process=x gi=5 ci=1 gpc=1"
inline std::string in_words(const Event& event) {
  std::string out = to_string(event.kind);
  if (event.code) out += fmt::format(" {}", *event.code);
  if (!event.sign.empty()) out += ' ' + event.sign;
  if (event.pci) out += ' ' + event.pci->sysfs();
  if (event.pid) out += fmt::format(" pid={}", *event.pid);
  if (!event.process.empty()) out += " process=" + event.process;
  if (event.gi) out += fmt::format(" gi={}", *event.gi);
  if (event.ci) out += fmt::format(" ci={}", *event.ci);
  for (const auto& each : event.details) out += ' ' + each.name + '=' + each.value;
  return out;
}

// Of every line in turn, "; " between them.
inline std::string in_words(const std::vector<Event>& events) {
  std::string out;
  for (const auto& event : events) out += (out.empty() ? "" : "; ") + in_words(event);
  return out;
}

inline std::string read_lines(const std::vector<std::string>& lines, bool kernel = true,
                              const std::string& program = "kernel") {
  EventParser parser;
  std::vector<Event> events;
  for (const auto& line : lines) {
    parser.read({.text = line, .program = program, .kernel = kernel}, events);
  }
  return in_words(events);
}

}  // namespace stoker::event
