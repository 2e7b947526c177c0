#include "device/record/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/log.h"
#include "base/write_all.h"
#include "device/record/file.h"

namespace stoker::device::record {
namespace {

// The frame that says how it ended, kept free below the bound.
constexpr std::uint64_t end_bytes = 512;
// More than this waiting for the disk, and the recording ends: minutes of what eight GPUs tell.
constexpr std::size_t max_waiting_bytes = std::size_t{4} << 20;
// The two clocks part by less than this through NTP's slewing within a few seconds (500 ppm at most:
// adjtimex(2)), and by more when somebody sets one.
constexpr Nanoseconds wall_drift = Milliseconds(5);

Nanoseconds distance(Nanoseconds one, Nanoseconds other) {
  return one < other ? other - one : one - other;
}

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::start(const Clock& clock, RecorderOptions options,
                                                  Begin begin) {
  const std::string path = options.path;
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
  if (!fd.valid() && errno == EEXIST) {
    return fail(ErrorCode::invalid_input,
                fmt::format("{} is there already; a recording never overwrites: name another file, "
                            "or remove it",
                            path));
  }
  if (!fd.valid()) return fail(Error::from_errno(errno, fmt::format("make {}", path)));
  std::unique_ptr<Recorder> recorder(new Recorder(clock, std::move(options), std::move(fd)));
  if (auto done = recorder->append(magic); !done) return fail(done.error());
  {
    const MutexLock lock(recorder->mutex_);
    recorder->bytes_ = magic.size();
    recorder->began_ = recorder->last_told_ = recorder->last_written_ = clock.monotonic();
    begin.wall = clock.wall();
    recorder->wall_ahead_ = begin.wall.since_epoch - recorder->began_.since_boot;
    recorder->add(recorder->began_, std::move(begin));
  }
  // A kill at any time leaves a recording that can be replayed.
  recorder->write_block();
  recorder->thread_ = std::jthread(
      [raw = recorder.get()](const std::stop_token& stop) { raw->write_blocks(stop); });
  return recorder;
}

Recorder::Recorder(const Clock& clock, RecorderOptions options, UniqueFd fd)
    : clock_(clock), options_(std::move(options)), fd_(std::move(fd)) {}

Recorder::~Recorder() { finish("the program ended"); }

void Recorder::put(What what) {
  const MutexLock lock(mutex_);
  if (!ended_.empty()) return;
  const MonotonicTime told = std::max(clock_.monotonic(), last_told_);
  tell_wall(told);
  add(told, std::move(what));
  if (encoder_.size() > max_waiting_bytes) return end("the disk does not keep up");
  if (encoder_.size() >= block_bytes) wake_.notify_all();
}

void Recorder::tell_wall(MonotonicTime told) {
  const WallTime wall = clock_.wall();
  const Nanoseconds ahead = wall.since_epoch - told.since_boot;
  if (distance(ahead, wall_ahead_) < wall_drift) return;
  wall_ahead_ = ahead;
  add(told, WallTold{wall});
}

void Recorder::add(MonotonicTime told, What what) {
  if (options_.replace_identifiers) identifiers_.replace(what);
  if (!encoder_.add({told, std::move(what)})) return end("more series than any node has");
  last_told_ = told;
  ++events_;
}

void Recorder::end(const std::string& why) {
  if (!ended_.empty()) return;
  ended_ = why;
  log::warning("recording_ended", {{"file", options_.path}, {"reason", why}});
}

Progress Recorder::progress() const {
  const MutexLock lock(mutex_);
  return {bytes_, events_, last_told_ - began_, ended_};
}

void Recorder::write_blocks(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    mutex_.lock();
    wake_.wait_for(mutex_, stop, options_.flush, [this]() STOKER_TS(requires_capability(mutex_)) {
      return encoder_.size() >= block_bytes;
    });
    mutex_.unlock();
    write_block();
  }
}

void Recorder::write_block() {
  std::string block;
  MonotonicTime last;
  std::uint64_t bytes = 0;
  {
    const MutexLock lock(mutex_);
    if (encoder_.size() == 0 || !ended_.empty()) return;
    block = encoder_.take_block();
    last = last_told_;
    bytes = bytes_;
  }
  const std::string frame = make_frame(block, last);
  const bool fits = bytes + frame.size() + end_bytes <= options_.max_bytes;
  const Result<void> done = fits ? append(frame) : Result<void>();
  const MutexLock lock(mutex_);
  if (!fits) {
    return end(fmt::format("it has reached its bound of {} bytes", options_.max_bytes));
  }
  if (!done) return end(done.error().describe());
  bytes_ += frame.size();
  last_written_ = last;
}

// All of it or, where the disk refuses, nothing.
Result<void> Recorder::append(std::string_view bytes) {
  const off_t before = lseek(fd_.get(), 0, SEEK_END);
  auto done = write_all(fd_.get(), bytes, options_.path);
  // Were this to fail too, the torn frame would be left out by whoever reads the file.
  if (!done && ftruncate(fd_.get(), before) != 0) {
    log::warning("recording_torn", {{"file", options_.path}});
  }
  return done;
}

void Recorder::finish(const std::string& why) {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  if (!fd_.valid()) return;
  write_block();
  const MutexLock lock(mutex_);
  encoder_.take_block();  // what the bound, or the disk, left no room for
  if (ended_.empty()) {
    ended_ = why;
    last_written_ = std::max(clock_.monotonic(), last_written_);
  }
  if (encoder_.add({last_written_, End{ended_}})) {
    const std::string frame = make_frame(encoder_.take_block(), last_written_);
    if (append(frame)) bytes_ += frame.size();
  }
  fsync(fd_.get());
  fd_.reset();
}

}  // namespace stoker::device::record
