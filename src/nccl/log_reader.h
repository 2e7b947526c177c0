// NCCL analyzer: one file of a job, piece by piece, into Facts: a log of any of its ranks or of the launcher, a kernel
// log, a flight recorder's dump, or what a RAS port answered. Which of these it is shows its content. Memory is bounded
// by what is worth keeping, not by the file's size; only a dump is held as a whole.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "event/log_scan.h"
#include "nccl/facts.h"
#include "nccl/readers.h"

namespace stoker::nccl {

class LogReader {
 public:
  // `name` is the file's. `facts` outlives the reader.
  LogReader(Facts& facts, std::string name);

  // The next piece, of any size.
  void add(std::string_view bytes);
  // The file is over. `read` says whether all of it could be read.
  void finish(const Result<void>& read = {});

 private:
  enum class Content : std::uint8_t { unknown, text, pickle, json, foreign };

  void settle();
  void add_text(std::string_view bytes);
  void note_time(std::string_view raw);
  void read_line(std::string_view raw, bool cut = false);
  void read_split(std::string_view raw, bool cut);
  void read_other(const Line& line, const Place& place);
  bool hold_json(std::string_view raw);
  void take_json();
  void damage(std::string_view why);
  [[nodiscard]] Place place_of(std::string_view raw, const Line& line) const;
  [[nodiscard]] bool channel_is_known(std::string_view raw, std::size_t at);
  [[nodiscard]] bool worth_reading(std::string_view raw) const;

  Facts& facts_;
  const std::uint32_t file_;
  Content content_ = Content::unknown;
  std::string held_;  // a dump as a whole; of text, what has no line break yet
  std::string json_;  // an object that goes over lines
  std::uint64_t json_line_ = 0;
  std::uint64_t line_ = 0;
  std::string plain_;  // a line without colours
  std::vector<Line> lines_;
  bool await_progress_ = false;
  std::unordered_set<std::size_t> channels_;  // who was seen to use the network, and how
  std::uint64_t long_lines_ = 0;
  event::LogScan kernel_;
  NcclReader nccl_;
  TorchReader torch_;
  LauncherReader launcher_;
  TracebackReader traceback_;
  RasTextReader ras_;
};

}  // namespace stoker::nccl
