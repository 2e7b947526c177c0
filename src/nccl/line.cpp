#include "nccl/line.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "nccl/words.h"

namespace stoker::nccl {
namespace {

bool is_host(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_';
}

// The digits that end `text`; they go from it.
std::string_view take_digits_back(std::string_view& text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  const auto digits = text.substr(begin);
  text.remove_suffix(digits.size());
  return digits;
}

bool take_back(std::string_view& text, char c) {
  if (!text.ends_with(c)) return false;
  text.remove_suffix(1);
  return true;
}

// "node-a:1579:1608" at the end of `text`.
bool read_host(std::string_view text, Line& line, std::size_t& begin) {
  const auto tid = take_digits_back(text);
  if (tid.empty() || !take_back(text, ':')) return false;
  const auto pid = whole_number<std::uint32_t>(take_digits_back(text));
  if (!pid || !take_back(text, ':')) return false;
  std::size_t first = text.size();
  while (first > 0 && is_host(text[first - 1])) --first;
  if (first == text.size()) return false;
  line.host = text.substr(first);
  line.pid = *pid;
  begin = first;
  return true;
}

// "transport/net_ib.cc:93 " or "transport/nvls.cc:379 (nvlsAllocateMem) ", which a warning has before NCCL's name;
// "include/socket.h". Empty: it is none.
std::string_view source_file(std::string_view text) {
  text = trimmed(text);
  const auto colon = text.find(':');
  const auto name = text.substr(0, std::min(colon, text.find(' ')));
  const bool path = name.find('.') != npos || name.find('/') != npos;
  return colon != npos && (path || text.find(' ') == npos) ? name : std::string_view();
}

struct Marker {
  std::string_view word;
  Voice voice;
};
constexpr std::array<Marker, 4> markers = {{
    {"INFO ", Voice::info},
    {"WARN ", Voice::warn},
    {"TRACE ", Voice::trace},
    {"CALL ", Voice::call},
}};

// Where, at or behind `from`, "NCCL INFO " or the like begins. NCCL 2.2 and 2.3 left its name out, which only counts
// behind "host:pid:tid [dev] ": `named` is false there.
struct Found {
  std::size_t at = npos;
  std::size_t text = npos;
  Voice voice = Voice::other;
  bool named = true;
};

Found find_marker(std::string_view raw, std::size_t from) {
  constexpr std::string_view name = "NCCL ";
  for (auto at = raw.find(name, from); at != npos; at = raw.find(name, at + 1)) {
    const auto rest = raw.substr(at + name.size());
    for (const auto& marker : markers) {
      if (rest.starts_with(marker.word)) {
        return {at, at + name.size() + marker.word.size(), marker.voice, true};
      }
    }
  }
  if (raw.find(name) != npos) return {};
  for (const auto& marker : {markers[0], markers[1]}) {
    const auto at = raw.find(marker.word, from);
    if (at != npos) return {at, at + marker.word.size(), marker.voice, false};
  }
  return {};
}

// What stands between the front and the marker at `at`: who speaks. False: no line of NCCL begins there.
bool read_head(std::string_view raw, std::size_t from, std::size_t at, bool named, Line& line,
               std::size_t& begin) {
  constexpr std::size_t longest_head = 400;
  const std::size_t low = at - from > longest_head ? at - longest_head : from;
  const auto head = raw.substr(low, at - low);
  for (auto open = head.rfind('['); open != npos;
       open = open == 0 ? npos : head.rfind('[', open - 1)) {
    const auto close = head.find(']', open);
    if (close == npos || close + 1 >= head.size() || head[close + 1] != ' ') continue;
    const auto device = whole_number<int>(head.substr(open + 1, close - open - 1));
    if (!device) continue;
    const auto between = head.substr(close + 2);
    std::size_t first = 0;
    if (open > 0 && head[open - 1] == ' ' && read_host(head.substr(0, open - 1), line, first)) {
      line.device = device;
      line.file = source_file(between);
      begin = low + first;
      return true;
    }
    // "[3] include/shm.h:28 NCCL WARN ...": the host was cut off, as people do who show a log.
    if (named && trimmed(head.substr(0, open)).empty() &&
        (between.empty() || !source_file(between).empty())) {
      line.device = device;
      line.file = source_file(between);
      begin = low + open;
      return true;
    }
  }
  std::size_t first = 0;
  if (named && head.ends_with(' ') && read_host(head.substr(0, head.size() - 1), line, first)) {
    begin = low + first;
    return true;
  }
  if (low != from) return false;
  const auto file =
      source_file(head);  // "transport/nvls.cc:165 NCCL WARN ..." or nothing at all in front
  if (!named && file.find('/') == npos) return false;
  if (!trimmed(head).empty() && (file.empty() || trimmed(head).find(' ') != npos)) return false;
  line.file = file;
  begin = from;
  return true;
}

// The next line of NCCL at or behind `from`, that begins at `begin` and whose text begins at `text`.
bool next_nccl(std::string_view raw, std::size_t from, Line& line, std::size_t& begin,
               std::size_t& text) {
  for (std::size_t search = from; search < raw.size();) {
    const auto found = find_marker(raw, search);
    if (found.at == npos) return false;
    Line read;
    if (read_head(raw, from, found.at, found.named, read, begin)) {
      read.voice = found.voice;
      if (read.voice != Voice::warn) read.file = {};
      text = found.text;
      line = read;
      return true;
    }
    search = found.text;
  }
  return false;
}

// Where, behind `from`, another rank's torch line begins: "[rank3]:".
std::size_t next_torch(std::string_view raw, std::size_t from) {
  for (auto at = raw.find("[rank", from); at != npos; at = raw.find("[rank", at + 1)) {
    auto end = at + 5;
    while (end < raw.size() && is_digit(raw[end])) ++end;
    if (end > at + 5 && raw.substr(end).starts_with("]:")) return at;
  }
  return npos;
}

// "2024-11-28T07:42:11.525Z" and what container runtimes put behind it.
std::size_t stamp_end(std::string_view rest) {
  std::size_t end = rest.find_first_not_of("| ");
  if (end > 6 || rest.size() < end + 16 || rest[end + 4] != '-' || rest[end + 7] != '-' ||
      !is_digit(rest[end]))
    return 0;
  const bool one_word = rest[end + 10] == 'T';
  end = rest.find(' ', end);
  if (end != npos && !one_word) end = rest.find(' ', end + 1);
  if (end == npos) return rest.size();
  ++end;
  for (const std::string_view word : {"stdout F ", "stderr F ", "| "}) {
    if (rest.substr(end).starts_with(word)) end += word.size();
  }
  return end;
}

// "(Worker pid=958) "
std::size_t worker_end(std::string_view rest) {
  constexpr std::size_t far = 120;
  const auto close = rest.find(')');
  if (close > far || !contains(rest.substr(0, close), "pid=")) return 0;
  return close + 1 + (rest.substr(close + 1).starts_with(' ') ? 1 : 0);
}

// "[rank3]:", "[default0]:", "[trainer0|0]:", "[1,12]<stdout>:"; none that has a blank, as torch's own "[E1127 21:52".
std::size_t bracket_end(std::string_view rest) {
  constexpr std::size_t far = 48;
  const auto close = rest.find(']');
  if (close > far || contains(rest.substr(0, close), " ")) return 0;
  const auto behind = rest.substr(close + 1);
  if (behind.starts_with(": ")) return close + 3;
  if (behind.starts_with(':')) return close + 2;
  if (behind.starts_with("<stdout>:") || behind.starts_with("<stderr>:")) return close + 10;
  // A log shipper's own number: "[80746] [rank0]:".
  const bool number =
      close > 1 && rest.substr(1, close - 1).find_first_not_of("0123456789") == npos;
  return number && behind.starts_with(" [rank") ? close + 2 : 0;
}

// "12: ", "worker-1: ", "192.0.2.10: ": a name of small letters that has a digit, which no exception's has.
std::size_t name_end(std::string_view rest) {
  constexpr std::size_t far = 64;
  const auto end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-");
  if (end == 0 || end > far || !rest.substr(end).starts_with(": ")) return 0;
  return rest.substr(0, end).find_first_of("0123456789") == npos ? 0 : end + 2;
}

// "ERROR 11-27 21:52:45 [multiproc_executor.py:470] ", "E0207 07:54:31.862000 4712 torch/x.py:939] ": Python's loggers.
std::size_t logger_end(std::string_view rest) {
  constexpr std::size_t far = 240;
  constexpr std::array<std::string_view, 5> levels = {"ERROR ", "CRITICAL ", "WARNING ", "INFO ",
                                                      "DEBUG "};
  const bool level = std::any_of(levels.begin(), levels.end(),
                                 [&](std::string_view word) { return rest.starts_with(word); });
  const bool glog = rest.size() > 5 && contains("EWIF", rest.substr(0, 1)) && is_digit(rest[1]) &&
                    is_digit(rest[2]);
  if (!level && !glog) return 0;
  const auto file = rest.substr(0, far).find(".py:");
  if (file == npos) return 0;
  const auto end = rest.find_first_not_of("0123456789", file + 4);
  if (end == npos || rest[end] != ']') return 0;
  return std::min(end + (rest.substr(end + 1).starts_with(' ') ? 2 : 1), rest.size());
}

// How much of a line that is none of NCCL's a launcher or a log shipper put there.
std::size_t front_end(std::string_view raw) {
  std::size_t end = 0;
  while (end < raw.size()) {
    auto rest = raw.substr(end);
    std::size_t blank = 0;
    if (end > 0 && rest.size() > 1 && rest.front() == ' ' && (rest[1] == '[' || rest[1] == '('))
      blank = 1;
    rest.remove_prefix(blank);
    auto more = stamp_end(rest);
    if (more == 0 && rest.front() == '(') more = worker_end(rest);
    if (more == 0 && rest.front() == '[') more = bracket_end(rest);
    if (more == 0) more = name_end(rest);
    if (more == 0) more = logger_end(rest);
    if (more == 0) break;
    end += blank + more;
  }
  return std::min(end, raw.size());
}

void add_other(std::string_view raw, std::vector<Line>& out) {
  while (!raw.empty() || out.empty()) {
    const auto next = raw.empty() ? npos : next_torch(raw, 1);
    const auto piece = raw.substr(0, next);
    const auto end = front_end(piece);
    Line line;
    line.front = piece.substr(0, end);
    line.rank = rank_in_front(line.front);
    line.text = piece.substr(end);
    out.push_back(line);
    if (next == npos) return;
    raw.remove_prefix(next);
  }
}

// The number behind `name` in `text`.
std::optional<int> number_after(std::string_view text, std::string_view name) {
  const auto at = text.rfind(name);
  if (at == npos) return std::nullopt;
  const auto rest = text.substr(at + name.size());
  return whole_number<int>(rest.substr(0, rest.find_first_not_of("0123456789")));
}

}  // namespace

void split_line(std::string_view raw, std::vector<Line>& out) {
  Line line;
  std::size_t begin = 0;
  std::size_t text = 0;
  if (!next_nccl(raw, 0, line, begin, text)) return add_other(raw, out);
  if (begin > 0 && raw.substr(0, begin).find("]:[") != npos && next_torch(raw, 0) == 0) {
    add_other(raw.substr(0, begin), out);  // a torch line that a line of NCCL cut off
  }
  std::size_t from = 0;
  while (true) {
    Line next;
    std::size_t next_begin = raw.size();
    std::size_t next_text = raw.size();
    // A line without host and device does not begin within another.
    const bool more = next_nccl(raw, text, next, next_begin, next_text) && !next.host.empty();
    const auto end = more ? next_begin : raw.size();
    const auto torch = next_torch(raw.substr(0, end), text);
    line.front = raw.substr(from, begin - from);
    line.rank = rank_in_front(line.front);
    line.text = raw.substr(text, std::min(end, torch) - text);
    out.push_back(line);
    if (torch < end) add_other(raw.substr(torch, end - torch), out);
    if (!more) return;
    from = begin = next_begin;
    text = next_text;
    line = next;
  }
}

std::string_view speaker(std::string_view front) {
  if (const auto rank = front.find("[rank"); rank != npos) {
    return front.substr(rank, front.find(']', rank) - rank);
  }
  if (const auto worker = front.find("pid="); worker != npos) {
    return front.substr(worker, front.find_first_of(",) ", worker) - worker);
  }
  if (const auto mpi = front.find("]<std"); mpi != npos) return front.substr(0, mpi);
  const bool stamp = front.size() > 10 && front[4] == '-' && is_digit(front[0]);
  const bool logger = contains(front, ".py:");
  return stamp || logger ? std::string_view() : front;
}

std::optional<int> rank_in_front(std::string_view front) {
  if (front.empty()) return std::nullopt;
  if (const auto rank = number_after(front, "[rank")) return rank;
  const auto std_at = front.find("]<std");  // Open MPI: "[job,rank]<stdout>:"
  if (std_at != npos) {
    if (const auto rank = number_after(front.substr(0, std_at), ",")) return rank;
  }
  // SkyPilot's "(head, rank=0, pid=5634)" counts nodes; vLLM's "(VllmWorker rank=1 pid=11606)" ranks.
  if (const auto rank = number_after(front, "rank="); rank && !contains(front, ", rank="))
    return rank;
  const auto digits = front.find_first_not_of("0123456789");  // srun -l, Lightning: "12: "
  if (digits != npos && digits > 0 && front.substr(digits).starts_with(": ")) {
    return whole_number<int>(front.substr(0, digits));
  }
  return std::nullopt;
}

namespace {

// "21:52:45" at the front of `text`, with a fraction or none.
std::optional<double> seconds_of_day(std::string_view text) {
  if (text.size() < 8 || text[2] != ':' || text[5] != ':') return std::nullopt;
  const auto hour = whole_number<int>(text.substr(0, 2));
  const auto minute = whole_number<int>(text.substr(3, 2));
  const auto second = whole_number<int>(text.substr(6, 2));
  if (!hour || !minute || !second) return std::nullopt;
  double fraction = 0;
  if (text.size() > 9 && (text[8] == '.' || text[8] == ',')) {
    double unit = 0.1;
    for (std::size_t at = 9; at < text.size() && is_digit(text[at]); ++at, unit /= 10) {
      fraction += unit * (text[at] - '0');
    }
  }
  return *hour * 3600.0 + *minute * 60.0 + *second + fraction;
}

std::optional<double> at_day(int month, int day, std::string_view clock) {
  constexpr std::array<int, 12> before = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  if (month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
  const auto seconds = seconds_of_day(clock);
  if (!seconds) return std::nullopt;
  constexpr double a_day = 86400;
  return (before.at(static_cast<std::size_t>(month - 1)) + day - 1) * a_day + *seconds;
}

// glog's, which torch writes: "E1127 21:52:45.97", and without the month's zero "E321 02:07:08.40".
std::optional<double> glog_time(std::string_view text) {
  const auto blank = text.find(' ');
  if (blank != 4 && blank != 5) return std::nullopt;
  const auto day = whole_number<int>(text.substr(1, blank - 1));
  return day ? at_day(*day / 100, *day % 100, text.substr(blank + 1)) : std::nullopt;
}

}  // namespace

std::optional<double> seconds_of_year(std::string_view raw) {
  constexpr std::size_t far = 200;
  raw = raw.substr(0, far);
  for (std::size_t at = 0; at + 19 <= raw.size(); ++at) {
    if (!is_digit(raw[at]) || raw[at + 4] != '-' || raw[at + 7] != '-') continue;
    const auto month = whole_number<int>(raw.substr(at + 5, 2));
    const auto day = whole_number<int>(raw.substr(at + 8, 2));
    if (!month || !day) continue;
    if (const auto when = at_day(*month, *day, raw.substr(at + 11))) return when;
  }
  for (std::size_t at = 0; at + 12 < raw.size(); ++at) {
    if (std::string_view("EWIF").find(raw[at]) == npos || !is_digit(raw[at + 1])) continue;
    if (at > 0 && raw[at - 1] != '[' && raw[at - 1] != ' ' && raw[at - 1] != ':') continue;
    if (const auto when = glog_time(raw.substr(at))) return when;
  }
  return std::nullopt;
}

std::string_view without_colour(std::string_view raw, std::string& buffer) {
  if (raw.find('\x1b') == npos) return raw;
  buffer.clear();
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] != '\x1b') {
      buffer += raw[at++];
      continue;
    }
    ++at;  // ECMA-48: ESC [ parameters, then a letter
    if (at < raw.size() && raw[at] == '[') {
      ++at;
      while (at < raw.size() && (raw[at] < '@' || raw[at] > '~')) ++at;
    }
    if (at < raw.size()) ++at;
  }
  return buffer;
}

}  // namespace stoker::nccl
