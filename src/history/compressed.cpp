#include "history/compressed.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>

#include "base/unique_fd.h"

namespace stoker::history {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;
constexpr int level = 1;        // a save costs little CPU; slots that stand still shrink anyway
constexpr int window_log = 17;  // 128 KiB: memory while saving

Error corrupt(const std::string& path, std::string_view what) {
  return {ErrorCode::corrupt, fmt::format("{}: {}", path, what)};
}

class Unpacker {
 public:
  Unpacker() : context_(ZSTD_createDCtx()) {
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, window_log);
  }
  ~Unpacker() { ZSTD_freeDCtx(context_); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  Result<void> add(std::string_view bytes, const std::string& path) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (in.pos < in.size) {
      ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
      const std::size_t left = ZSTD_decompressStream(context_, &out, &in);
      if (ZSTD_isError(left) != 0) return fail(corrupt(path, ZSTD_getErrorName(left)));
      text_.append(buffer_.data(), out.pos);
      if (text_.size() > most_bytes) return fail(corrupt(path, "it is far too large"));
      whole_ = left == 0;
    }
    return {};
  }
  [[nodiscard]] bool whole() const { return whole_; }
  std::string take() { return std::move(text_); }

 private:
  ZSTD_DCtx* context_;
  std::vector<char> buffer_ = std::vector<char>(ZSTD_DStreamOutSize());
  std::string text_;
  bool whole_ = false;
};

}  // namespace

Compressor::Compressor(Sink sink)
    : sink_(std::move(sink)), context_(ZSTD_createCCtx()), out_(ZSTD_CStreamOutSize()) {
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context_, ZSTD_c_windowLog, window_log);
  ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
}

Compressor::~Compressor() { ZSTD_freeCCtx(context_); }

Result<void> Compressor::step(std::string_view bytes, bool end) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  while (true) {
    ZSTD_outBuffer out{out_.data(), out_.size(), 0};
    const std::size_t left =
        ZSTD_compressStream2(context_, &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left) != 0) {
      return fail(ErrorCode::internal, fmt::format("zstd: {}", ZSTD_getErrorName(left)));
    }
    if (out.pos > 0) {
      if (auto done = sink_({out_.data(), out.pos}); !done) return done;
    }
    if (end ? left == 0 : in.pos == in.size) return {};
  }
}

Result<void> Compressor::add(std::string_view bytes) { return step(bytes, false); }
Result<void> Compressor::finish() { return step({}, true); }

Result<std::string> read_compressed(const std::string& path) {
  // O_NONBLOCK: a pipe in its place is not waited for.
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return fail(Error::from_errno(errno, fmt::format("open {}", path)));
  struct stat about{};
  if (fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return fail(corrupt(path, "it is no file"));
  }
  Unpacker unpacker;
  std::vector<char> buffer(ZSTD_DStreamInSize());
  while (true) {
    const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(Error::from_errno(errno, fmt::format("read {}", path)));
    if (got == 0) break;
    if (auto done = unpacker.add({buffer.data(), static_cast<std::size_t>(got)}, path); !done) {
      return fail(done.error());
    }
  }
  if (!unpacker.whole()) return fail(corrupt(path, "it ends in the middle"));
  return unpacker.take();
}

}  // namespace stoker::history
