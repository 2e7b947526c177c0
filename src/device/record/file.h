// Device stage: the file of a recording: a line that names format and version, then frames. A frame is
// size and CRC-32 of what follows, the time of its last event, and a block of events, compressed by
// itself. Frames are only ever appended, whole; a tail that is cut off is left out and told.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "device/record/codec.h"
#include "device/record/event.h"

namespace stoker::device::record {

inline constexpr std::string_view magic = "stoker recording 1\n";
// A block is written when it has so many bytes; one event more may come on top.
inline constexpr std::size_t block_bytes = std::size_t{64} << 10;
inline constexpr std::size_t max_block_bytes = std::size_t{8} << 20;

// A frame whose block's last event was told at `last`.
std::string make_frame(std::string_view block, MonotonicTime last);

// What can be known without reading every event.
struct Facts {
  Begin begin;
  MonotonicTime first;
  MonotonicTime last;
  std::uint64_t bytes = 0;       // of whole frames, with the first line
  std::uint64_t lost_bytes = 0;  // behind them: a frame that was not written whole
};

// Reads a recording front to back. What is appended after open() is not seen.
class FileReader {
 public:
  // Looks at every frame's CRC. not_found, io; invalid_input: it is no recording, or of another
  // version; corrupt: nothing whole is in it, or a frame in the middle was changed.
  static Result<FileReader> open(const std::string& path);

  [[nodiscard]] const Facts& facts() const { return facts_; }
  // nullopt: the end. corrupt: a block does not hold together.
  Result<std::optional<Event>> next();

 private:
  FileReader(UniqueFd fd, std::string path);

  Result<void> look_at_frames();
  Result<void> read_frame();

  std::string path_;
  UniqueFd fd_;
  Facts facts_;
  std::uint64_t at_ = magic.size();
  std::unique_ptr<Decoder> decoder_ = std::make_unique<Decoder>();
  std::deque<Event> events_;
};

}  // namespace stoker::device::record
