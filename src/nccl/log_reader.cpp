#include "nccl/log_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "nccl/dumps.h"
#include "nccl/word_filter.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20U;
constexpr std::size_t largest_dump = std::size_t{256} << 20U;
constexpr std::size_t most_kernel_events = 2000;
constexpr std::size_t most_progress = 2000;

// Of the lines of NCCL that say how channels run, which are nearly all of a large log, nothing is kept. A line that
// begins like one of them may still hold another one's beginning.
constexpr std::array<std::string_view, 8> dull = {
    "Trees [",          "Ring ", "Tree ", "P2P Chunksize", "threadThresholds",
    "Setting affinity", " ",     "NVLS "};

bool is_channel(std::string_view text) { return text.starts_with("Channel "); }

bool is_dull(std::string_view text) {
  return std::any_of(dull.begin(), dull.end(),
                     [&](std::string_view word) { return text.starts_with(word); });
}

// Without one of these no other line means anything to us.
constexpr std::array<TellingWord, 23> telling_words = {{
    {"rror", 0},
    {"ailure", 2},
    {"xception", 0},
    {"Traceback", 0},
    {"atchdog", 3},
    {"ollective", 5},
    {"enqueued", 1},
    {"exit", 1},
    {"Exit", 0},
    {"task", 2},
    {"ault", 0},
    {"COMPLETE", 2},
    {"OOM", 0},
    {"oom", 0},
    {"NCCL vers", 1},
    {"Interrupt", 5},
    {"Killed", 0},
    {"out of memory", 4},
    {"worker_count=", 5},
    {"[c10d]", 1},
    {"MPI_ABORT", 3},
    {"Out of bounds values", 0},
    {"Avg bus bandwidth", 1},
}};
const WordFilter& telling() {
  static const WordFilter filter(telling_words);
  return filter;
}

// What shows that a job went on is no warning and no decoration.
bool is_progress(std::string_view text) {
  const auto said = trimmed(text, " \t\r");
  const bool word = said.find_first_of("abcdefghijklmnopqrstuvwxyz0123456789") != npos;
  for (const auto* sign : {"arning", "WARN", "Setting OMP", "deprecated", "rror", "NCCL version",
                           "SIGTERM", "raceback"}) {
    if (contains(said, sign)) return false;
  }
  return word && said.size() > 3 && !said.starts_with("***") && !said.starts_with("[W");
}

}  // namespace

LogReader::LogReader(Facts& facts, std::string name)
    : facts_(facts),
      file_(static_cast<std::uint32_t>(facts.files.size())),
      kernel_(name,
              [this](event::FoundEvent&& found) {
                facts_.files[file_].kernel = true;
                if (facts_.kernel.size() < most_kernel_events)
                  facts_.kernel.push_back({std::move(found), file_});
              }),
      nccl_(facts),
      torch_(facts),
      launcher_(facts),
      traceback_(facts),
      ras_(facts) {
  facts.files.push_back({.name = std::move(name)});
}

void LogReader::damage(std::string_view why) {
  auto& damage = facts_.files[file_].damage;
  if (!damage.empty()) damage += "; ";
  damage += why;
}

// By its first bytes: a pickle says its protocol; JSON as a whole begins with its brace and a name.
void LogReader::settle() {
  const auto first = trimmed(held_, " \t\r\n");
  if (held_.size() >= 2 && held_[0] == '\x80' && held_[1] >= 1 && held_[1] <= 5) {
    content_ = Content::pickle;
  } else if (first.starts_with("{\"entries\"") || first.starts_with("{\"version\"") ||
             first.starts_with("{\"pg_config\"") || first.starts_with("{\"comm_lib_version\"") ||
             first.starts_with("{\"pg_status\"") || first.starts_with("{\"nccl_version\"")) {
    content_ = Content::json;
  } else if (held_.find('\0') != std::string::npos) {
    content_ = Content::foreign;
    facts_.files[file_].foreign = true;
  } else {
    content_ = Content::text;
  }
}

void LogReader::add(std::string_view bytes) {
  constexpr std::size_t telling_beginning = 64;
  if (content_ == Content::unknown) {
    held_ += bytes;
    if (held_.size() < telling_beginning) return;
    settle();
    if (content_ == Content::foreign) held_.clear();
    if (content_ != Content::text) return;
    const std::string begun = std::move(held_);
    held_.clear();
    return add_text(begun);
  }
  if (content_ == Content::foreign) return;
  if (content_ == Content::text) return add_text(bytes);
  if (held_.size() + bytes.size() <= largest_dump) {
    held_ += bytes;
  } else if (facts_.files[file_].damage.empty()) {
    damage("it is larger than any dump");
  }
}

void LogReader::add_text(std::string_view bytes) {
  kernel_.add(bytes);
  if (!held_.empty()) {
    const auto end = bytes.find('\n');
    held_ += bytes.substr(0, end);
    if (end == npos && held_.size() < longest_line) return;
    const std::string line = std::move(held_);
    held_.clear();
    read_line(line);
    if (end == npos) {
      ++long_lines_;
      return;
    }
    bytes.remove_prefix(end + 1);
  }
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    if (end == npos) {
      held_ = bytes;
      return;
    }
    read_line(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
  }
}

bool LogReader::worth_reading(std::string_view raw) const {
  if (traceback_.open() || ras_.open() || await_progress_) return true;
  if (raw.starts_with("{") || raw.starts_with("Root Cause") || raw.starts_with("Failures:"))
    return true;
  if (raw.starts_with("  rank ") || raw.starts_with("  host ") || raw.starts_with("  exitcode"))
    return true;
  if (raw.starts_with("Job summary") || raw.starts_with("SERVER PROTOCOL")) return true;
  return telling().finds(raw);
}

// When the log begins.
void LogReader::note_time(std::string_view raw) {
  constexpr std::uint64_t beginning = 200;
  auto& file = facts_.files[file_];
  if (file.first_when || line_ > beginning) return;
  file.first_when = seconds_of_year(raw);
  file.first_when_line = line_;
}

void LogReader::read_line(std::string_view raw, bool cut) {
  ++line_;
  ++facts_.order;
  note_time(raw);
  if (!json_.empty() && hold_json(raw)) return;
  // "INFO " and "WARN " alone are how NCCL 2.2 and 2.3 wrote them, behind "host:pid:tid [dev] ".
  auto at = raw.find("NCCL ");
  if (at == npos) {
    at = raw.find("] INFO ");
    if (at == npos && contains(raw, "WARN ")) at = 0;
    if (at == npos && !worth_reading(raw)) return;
    return read_split(raw, cut);
  }
  const auto text = raw.substr(at);
  constexpr std::string_view info = "NCCL INFO ";
  if (text.starts_with(info)) {
    const auto said = text.substr(info.size());
    const bool dull_line = is_channel(said) ? channel_is_known(raw, at) : is_dull(said);
    if (dull_line && !contains(said, "NCCL ") && !contains(said, "[rank")) return;
  }
  read_split(raw, cut);
}

void LogReader::read_split(std::string_view raw, bool cut) {
  if (raw.ends_with('\r')) raw.remove_suffix(1);
  raw = without_colour(raw, plain_);
  if (hold_json(raw)) return;
  lines_.clear();
  split_line(raw, lines_);
  lines_.back().cut = cut;
  for (const auto& line : lines_) {
    const Place place = place_of(lines_.size() == 1 ? raw : line.text, line);
    if (line.voice == Voice::other) {
      read_other(line, place);
      continue;
    }
    nccl_.read(line, place);
    if (line.voice == Voice::info &&
        (contains(line.text, "Init COMPLETE") || line.text.starts_with("Connected all"))) {
      await_progress_ = true;
    }
  }
}

void LogReader::read_other(const Line& line, const Place& place) {
  if (ras_.read(line.text, place)) return;
  nccl_.read_version(line.text);
  if (line.text.starts_with("# Avg bus bandwidth")) facts_.ends.push_back(place);
  if (traceback_.read(line, place)) return;
  if (torch_.read(line, place)) return;
  if (launcher_.read(line, place)) return;
  const Sign* sign = find_sign(Where::line, line.text);
  if (sign == nullptr) sign = find_sign(Where::anywhere, line.text);
  if (sign != nullptr) {
    Hit hit{.sign = sign, .rank = line.rank, .place = place};
    if (const auto waits = number_behind<int>(line.text, "for rank: ");
        waits && sign->verdict == Class::missing_rank)
      hit.named_ranks.push_back(*waits);
    add_hit(facts_, std::move(hit));
  } else if (await_progress_ && is_progress(line.text)) {
    await_progress_ = false;
    if (facts_.progress.size() < most_progress) facts_.progress.push_back(place);
  }
}

// An object of JSON that goes over many lines, as RAS answers: from a line "{" to a line "}".
bool LogReader::hold_json(std::string_view raw) {
  if (json_.empty()) {
    if (raw.starts_with("{\"") &&
        (contains(raw, "\"communicators\"") || contains(raw, "\"pg_config\""))) {
      json_ = raw;
      json_line_ = line_;
      take_json();
      return true;
    }
    if (raw != "{") return false;
    json_line_ = line_;
  }
  json_.append(raw).append(1, '\n');
  if (raw == "}") take_json();
  if (json_.size() > (largest_dump >> 4U)) json_.clear();
  return true;
}

void LogReader::take_json() {
  const std::string text = std::move(json_);
  json_.clear();
  const auto tree = read_json(text);
  if (tree && Item(*tree, tree->root)["communicators"])
    (void)add_ras(*tree, file_, json_line_, facts_);
  else if (tree && Item(*tree, tree->root)["pg_config"])
    (void)add_dump(*tree, file_, facts_);
}

// A line of NCCL's that is no warning is evidence of little, and there are very many.
Place LogReader::place_of(std::string_view raw, const Line& line) const {
  Place place{.file = file_, .line = line_, .order = facts_.order};
  if (line.voice == Voice::info || line.voice == Voice::trace || line.voice == Voice::call)
    return place;
  place.when = seconds_of_year(raw);
  place.text = shown(raw);
  return place;
}

// Of a channel it counts whether its rank uses the network, and with GPU Direct RDMA: once of each rank.
bool LogReader::channel_is_known(std::string_view raw, std::size_t at) {
  const auto said = raw.substr(at);
  if (!contains(said, "via NET/")) return true;
  const auto who = std::hash<std::string_view>{}(raw.substr(0, at));
  return !channels_.insert(2 * who + (contains(said, "/GDRDMA") ? 1 : 0)).second;
}

void LogReader::finish(const Result<void>& read) {
  if (content_ == Content::unknown) {
    settle();
    if (content_ == Content::text) {
      const std::string begun = std::move(held_);
      held_.clear();
      add_text(begun);
    }
  }
  if (!read) damage(read.error().describe());
  if (content_ == Content::text) {
    if (!held_.empty()) {
      const std::string last = std::move(held_);
      held_.clear();
      read_line(last, true);
    }
    kernel_.finish();
    ras_.finish();
    if (!json_.empty())
      damage(fmt::format("the JSON object that begins in line {} has no end", json_line_));
    if (long_lines_ > 0)
      damage(fmt::format("{} lines are longer than 1 MiB, and were read in pieces", long_lines_));
  } else if (content_ == Content::foreign) {
    // Said by FileFacts::foreign.
  } else if (const auto tree = content_ == Content::pickle ? read_pickle(held_) : read_json(held_);
             !tree) {
    damage(tree.error().message());
  } else if (const auto added = add_data(*tree, file_, 0, facts_); !added) {
    damage(added.error().message());
  }
  held_.clear();
  held_.shrink_to_fit();
  facts_.files[file_].lines = line_;
}

}  // namespace stoker::nccl
