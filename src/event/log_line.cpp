#include "event/log_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "event/cursor.h"
#include "event/event_parser.h"
#include "event/record_fields.h"
#include "os/kmsg.h"

namespace stoker::event {
namespace {

constexpr unsigned facility_shift = 3;  // a priority is facility * 8 + level (RFC 5424, 6.2.1)
constexpr std::string_view not_kernel = "?";  // a program whose name the log does not have

void by_kernel(LogLine& line) {
  line.kernel = true;
  line.program = "kernel";
}

void by_program(LogLine& line, std::string_view name) {
  if (name == "kernel") return by_kernel(line);
  line.kernel = false;
  line.program = name.empty() ? not_kernel : name;
}

// Terminal colours: ESC [ ... m, and how syslog and terminals write ESC as text.
std::string without_colours(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    bool taken = false;
    for (const std::string_view start : {"\x1b[", "#033[", "^[[", "\\x1b["}) {
      Cursor cursor(text);
      if (!cursor.take(start)) continue;
      cursor.take_of("0123456789;?");
      const bool whole = cursor.take("m") || cursor.take("K");
      if (!whole) continue;
      text = cursor.rest();
      taken = true;
      break;
    }
    if (taken) continue;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

bool may_have_colours(std::string_view text) {
  return text.find('[') != std::string_view::npos &&
         (text.find('\x1b') != std::string_view::npos ||
          text.find("#033[") != std::string_view::npos ||
          text.find("^[[") != std::string_view::npos ||
          text.find("\\x1b[") != std::string_view::npos);
}

// "gpu-17 kernel: ", "kernel: ", "gpu-17 systemd[1]: ", behind a time.
bool take_tag(std::string_view& text, LogLine& line) {
  constexpr std::size_t longest = 200;
  if (text.starts_with('[') || begins_kernel_line(text)) return false;
  const auto colon = text.substr(0, longest).find(':');
  if (colon == std::string_view::npos) return false;
  const bool tight =
      colon + 1 < text.size() && text[colon + 1] != ' ';  // "kernel:[  12.345678] ..."
  auto head = text.substr(0, colon);
  if (const auto blank = head.find(' '); blank != std::string_view::npos)
    head.remove_prefix(blank + 1);
  if (head.empty() || head.find(' ') != std::string_view::npos) return false;
  if (const auto bracket = head.find('[');
      bracket != std::string_view::npos && head.ends_with(']')) {
    head = head.substr(0, bracket);
  }
  if (tight && head != "kernel") return false;
  by_program(line, head);
  text = trimmed(text.substr(colon + 1));
  return true;
}

// "gpu-17 kernel: ", "gpu-17 systemd[1]: ", behind a kernel's stamp (journalctl -o short-monotonic): the kernel's own
// messages have a colon too, so only these count.
void take_host_and_tag(std::string_view& text, LogLine& line) {
  Cursor cursor(text);
  const auto host = cursor.take_until(" ");
  const auto tag = cursor.take_until(": ");
  if (!host || !tag || tag->find(' ') != std::string_view::npos) return;
  const auto bracket = tag->find('[');
  const bool process = bracket != std::string_view::npos && tag->ends_with(']');
  if (*tag != "kernel" && !process) return;
  by_program(line, tag->substr(0, bracket));
  text = cursor.rest();
}

// "stdout F ", of a container's log (CRI), behind a time.
bool take_cri(std::string_view& text) {
  Cursor cursor(text);
  if (!cursor.take("stdout ") && !cursor.take("stderr ")) return false;
  if (!cursor.take("F ") && !cursor.take("P ")) return false;
  text = cursor.rest();
  return true;
}

void take_behind_time(std::string_view& text, LogLine& line) {
  if (!take_cri(text)) take_tag(text, line);
}

bool take_wall_time(std::string_view& text, LogLine& line) {
  using Reader = bool (*)(std::string_view&, LogTime&);
  for (const Reader reader : {&take_iso_time, &take_full_time, &take_unix_time, &take_short_time}) {
    LogTime time;
    if (!reader(text, time)) continue;
    // A container's log holds lines that have a time of their own: the inner one is when it was said.
    if (time.wall || !line.time.wall) line.time = std::move(time);
    take_behind_time(text, line);
    return true;
  }
  return false;
}

// "<6>", and what RFC 5424 puts behind it: "1 TIME HOST APP PROCID MSGID DATA ".
bool take_priority(std::string_view& text, LogLine& line) {
  constexpr unsigned last = 191;
  Cursor cursor(text);
  if (!cursor.take("<")) return false;
  const auto priority = cursor.take_number<unsigned>();
  if (!priority || *priority > last || !cursor.take(">")) return false;
  if (*priority >> facility_shift == 0) {
    by_kernel(line);
  } else {
    by_program(line, {});
  }
  text = cursor.rest();
  if (!cursor.take("1 ")) return true;
  std::string_view rest = cursor.rest();
  if (!take_iso_time(rest, line.time)) return true;
  cursor = Cursor(rest);
  cursor.take_until(" ");  // host
  const auto program = cursor.take_until(" ");
  cursor.take_until(" ");  // process id
  cursor.take_until(" ");  // message id
  if (!program) return true;
  if (*program != "-") by_program(line, *program);
  if (!cursor.take("- ")) {
    while (cursor.take("[")) cursor.take_until("]");
    cursor.take(" ");
  }
  cursor.take("\xef\xbb\xbf");  // the byte order mark that the RFC asks for before UTF-8
  text = cursor.rest();
  return true;
}

// "4,388,81565072,c;text"
bool take_kmsg(std::string_view text, LogLine& line, std::string& message) {
  if (text.empty() || digits.find(text.front()) == std::string_view::npos) return false;
  constexpr std::size_t longest = 100;  // of what stands before the text
  if (text.substr(0, longest).find(';') == std::string_view::npos) return false;
  const auto record = os::parse_kmsg_record(text);
  if (!record) return false;
  if (record->facility == 0) {
    by_kernel(line);
  } else {
    by_program(line, {});
  }
  constexpr std::uint64_t million = 1'000'000;
  line.time.text = std::to_string(record->microseconds / million) + '.' +
                   std::to_string(million + record->microseconds % million).substr(1);
  line.time.reason = "since_boot";
  line.time.since_boot = std::chrono::microseconds(static_cast<std::int64_t>(record->microseconds));
  message = record->text;
  return true;
}

// "kern  :warn  : " of dmesg -x, "10.5.0.2: kern: warning: " of talosctl dmesg.
bool take_facility(std::string_view& text, LogLine& line) {
  static constexpr std::array<std::string_view, 6> names = {"kern",   "user", "daemon",
                                                            "syslog", "auth", "mail"};
  Cursor cursor(text);
  const auto node = text.substr(0, text.find(' '));
  if (node.size() > 1 && node.ends_with(':') &&
      !std::ranges::count(names, node.substr(0, node.size() - 1))) {
    cursor.take(node);
    cursor.skip_blanks();
  }
  const auto* name = std::ranges::find_if(names, [&](auto each) { return cursor.take(each); });
  if (name == names.end()) return false;
  cursor.skip_blanks();
  if (!cursor.take(":")) return false;
  cursor.skip_blanks();
  if (cursor.take_of("abcdefghijklmnopqrstuvwxyz").empty()) return false;
  cursor.skip_blanks();
  if (!cursor.take(":")) return false;
  cursor.skip_blanks();
  by_program(line, *name == "kern" ? "kernel" : not_kernel);
  text = cursor.rest();
  return true;
}

// "[pod/gpu-debug-x/dmesg] " of kubectl logs --prefix, "dmesg-1  | " of docker compose.
bool take_container(std::string_view& text) {
  Cursor cursor(text);
  if (cursor.take("[pod/")) {
    if (!cursor.take_until("] ")) return false;
    text = cursor.rest();
    return true;
  }
  const auto name = cursor.rest().substr(0, cursor.rest().find(' '));
  if (name.empty() || !cursor.take(name) || cursor.skip_blanks().empty() || !cursor.take("| "))
    return false;
  text = cursor.rest();
  return true;
}

// "[May 16 2025 15:10:21] [ERROR] [tid 30042] text": fabric manager's own log names no program.
bool take_fabric_manager(std::string_view text, LogLine& line) {
  Cursor cursor(text);
  if (!line.program.empty() || !cursor.take("[")) return false;
  const auto time = cursor.take_until("] [");
  const auto level = cursor.take_until("] [tid ");
  if (!time || !level || time->find(':') == std::string_view::npos) return false;
  by_program(line, "nv-fabricmanager");
  line.time.text = *time;
  line.time.reason = "no_zone";
  return true;
}

// "   python3-4242  (   4242) [003] d.h1. 12345.678901: nvidia_dev_xid: " of trace, trace_pipe and trace-cmd report
// (Documentation/trace/ftrace.rst), for the driver's two tracepoints (open-gpu-kernel-modules from 580 on,
// nv-tracepoint.h and nvswitch_event.h), which say what stands behind "NVRM: " of the kernel's log.
bool take_trace(std::string_view& text, LogLine& line) {
  // A program that prints such a line into a log is not the kernel.
  if (!line.program.empty()) return false;
  constexpr std::size_t longest = 160;  // of what stands before the words of the event
  for (const std::string_view name : {": nvidia_dev_xid: ", ": nvswitch_dev_sxid: "}) {
    const auto found = text.substr(0, longest).find(name);
    if (found == std::string_view::npos) continue;
    const auto head = text.substr(0, found);
    const auto cpu = head.find('[');
    const auto time = head.rfind(' ');
    if (cpu == std::string_view::npos || time == std::string_view::npos || time < cpu) return false;
    std::string stamp = fmt::format("[{}] ", head.substr(time + 1));
    std::string_view rest = stamp;
    if (!take_kernel_stamp(rest, line.time)) return false;  // a clock that counts no seconds
    by_kernel(line);
    text = trimmed(text.substr(found + name.size()));
    return true;
  }
  return false;
}

void read_field(std::string_view key, std::string_view value, LogLine& line, std::string& message) {
  static constexpr std::array<std::string_view, 4> messages = {"MESSAGE", "log", "message", "msg"};
  static constexpr std::array<std::string_view, 4> times = {"time", "timestamp", "@timestamp",
                                                            "ts"};
  static constexpr std::array<std::string_view, 2> programs = {"SYSLOG_IDENTIFIER", "ident"};
  if (std::ranges::count(messages, key) > 0) {
    message = value;
  } else if (key == "__REALTIME_TIMESTAMP") {
    read_microseconds(value, line.time);
  } else if (key == "_BOOT_ID") {
    line.boot = value;
  } else if (key == "_TRANSPORT") {
    if (value == "kernel") {
      by_kernel(line);
    } else if (line.program.empty()) {
      by_program(line, {});
    }
  } else if (std::ranges::count(programs, key) > 0) {
    if (!line.kernel) by_program(line, value);
  } else if (std::ranges::count(times, key) > 0) {
    take_iso_time(value, line.time);
  }
}

// What a program's own record says is the kernel's only where the journal says so, not where it says of itself.
void settle_transport(std::string_view transport, LogLine& line) {
  if (!transport.empty() && transport != "kernel" && line.kernel) by_program(line, {});
}

}  // namespace

bool is_export(std::string_view beginning) { return beginning.starts_with("__CURSOR="); }

LogLine LogLineReader::read(std::string_view raw) {
  LogLine line;
  std::string transport;
  const auto field = [&](std::string_view key, std::string_view value) {
    if (key == "_TRANSPORT") transport = value;
    read_field(key, value, line, message_);
  };
  std::string_view text = raw;
  if (is_export(raw)) {
    message_.clear();
    each_export_field(raw, field);
    settle_transport(transport, line);
    line.text = message_;
    return line;
  }
  if (may_have_colours(text)) {
    plain_ = without_colours(text);
    text = plain_;
  }
  text = trimmed(text, " \t\r\n");
  if (text.starts_with('{')) {
    message_.clear();
    each_json_field(text, field);
    settle_transport(transport, line);
    text = trimmed(message_, " \t\r\n");
  }
  constexpr int most = 8;  // formats within one another: a container's log of a syslog of dmesg
  for (int depth = 0; depth < most && !text.empty(); ++depth) {
    if (begins_kernel_line(text) || take_fabric_manager(text, line)) break;
    if (take_kernel_stamp(text, line.time) ||
        (text.starts_with('[') && take_dmesg_time(text, line.time))) {
      if (line.program.empty()) {
        by_kernel(line);
        take_host_and_tag(text, line);
      }
      continue;
    }
    if (text.starts_with("kernel: ")) {
      if (line.program.empty()) by_kernel(line);
      text = trimmed(text.substr(std::string_view("kernel:").size()));
      continue;
    }
    std::string unescaped;
    if (take_kmsg(text, line, unescaped)) {
      message_ = std::move(unescaped);
      text = message_;
      continue;
    }
    const bool more = take_priority(text, line) || take_wall_time(text, line) ||
                      take_facility(text, line) || take_container(text) || take_trace(text, line);
    if (!more) break;
  }
  line.text = text;
  return line;
}

}  // namespace stoker::event
