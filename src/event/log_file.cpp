#include "event/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <vector>

#include "base/unique_fd.h"

namespace stoker::event {
namespace {

using Take = std::function<void(std::string_view)>;

constexpr std::size_t piece = std::size_t{256} * 1024;

// What a content goes through on its way to the reader.
class Unpacker {
 public:
  virtual ~Unpacker() = default;
  virtual Result<void> add(std::string_view bytes) = 0;
  virtual Result<void> finish() = 0;
};

class Plain final : public Unpacker {
 public:
  explicit Plain(const Take& take) : take_(take) {}
  Result<void> add(std::string_view bytes) override {
    take_(bytes);
    return {};
  }
  Result<void> finish() override { return {}; }

 private:
  const Take& take_;
};

class Gzip final : public Unpacker {
 public:
  explicit Gzip(const Take& take) : take_(take), out_(piece) {
    constexpr int gzip_window = 15 + 16;  // zlib.h: 16 more for a gzip header
    ready_ = inflateInit2(&stream_, gzip_window) == Z_OK;
  }
  ~Gzip() override { inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  Result<void> add(std::string_view bytes) override {
    if (!ready_) return fail(ErrorCode::internal, "zlib has no memory");
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      if (ended_) {
        if (stream_.avail_in == 0) break;
        inflateReset(&stream_);
        ended_ = false;
      }
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      take_({out_.data(), out_.size() - stream_.avail_out});
      ended_ = code == Z_STREAM_END;
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        return fail(ErrorCode::corrupt, "the gzip stream is damaged");
      }
    } while (stream_.avail_in > 0 || stream_.avail_out == 0);
    return {};
  }
  Result<void> finish() override {
    if (!ended_) return fail(ErrorCode::corrupt, "the gzip stream ends too early");
    return {};
  }

 private:
  const Take& take_;
  std::vector<char> out_;
  z_stream stream_{};
  bool ready_ = false;
  bool ended_ = false;
};

class Zstd final : public Unpacker {
 public:
  explicit Zstd(const Take& take)
      : take_(take),
        out_(ZSTD_DStreamOutSize()),
        stream_(ZSTD_createDStream(), &ZSTD_freeDStream) {}

  Result<void> add(std::string_view bytes) override {
    if (stream_ == nullptr) return fail(ErrorCode::internal, "zstd has no memory");
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer out{};
    do {
      out = {out_.data(), out_.size(), 0};
      wanted_ = ZSTD_decompressStream(stream_.get(), &out, &in);
      take_({out_.data(), out.pos});
      if (ZSTD_isError(wanted_) != 0) return fail(ErrorCode::corrupt, "the zstd stream is damaged");
    } while (in.pos < in.size || out.pos == out.size);
    return {};
  }
  Result<void> finish() override {
    if (wanted_ != 0) return fail(ErrorCode::corrupt, "the zstd stream ends too early");
    return {};
  }

 private:
  const Take& take_;
  std::vector<char> out_;
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  std::size_t wanted_ = 1;  // 0: the stream is at the end of a frame
};

struct Format {
  std::string_view magic;
  std::string_view advice;  // empty: we read it
};
// RFC 1952; RFC 8878; the .xz file format; bzip2; systemd.io/JOURNAL_FILE_FORMAT.
constexpr std::array<Format, 5> formats = {{
    {"\x1f\x8b", ""},
    {"\x28\xb5\x2f\xfd", ""},
    {"\xfd"
     "7zXZ",
     "it is packed by xz: xz -dc FILE | stoker xid scan -"},
    {"BZh", "it is packed by bzip2: bzip2 -dc FILE | stoker xid scan -"},
    {"LPKSHHRH", "it is a journal: journalctl --file FILE -o export | stoker xid scan -"},
}};

Result<std::unique_ptr<Unpacker>> unpacker_for(std::string_view beginning, const Take& take) {
  for (const auto& format : formats) {
    if (beginning.starts_with(format.magic) && !format.advice.empty()) {
      return fail(ErrorCode::not_supported, std::string(format.advice));
    }
  }
  if (beginning.starts_with(formats[0].magic)) return std::make_unique<Gzip>(take);
  if (beginning.starts_with(formats[1].magic)) return std::make_unique<Zstd>(take);
  return std::make_unique<Plain>(take);
}

// At least the longest magic, where there is that much: a pipe gives less at a time.
Result<std::size_t> read_some(int fd, std::vector<char>& buffer, std::size_t least) {
  std::size_t got = 0;
  do {
    const ssize_t more = ::read(fd, buffer.data() + got, buffer.size() - got);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return fail(Error::from_errno(errno, "read it"));
    if (more == 0) break;
    got += static_cast<std::size_t>(more);
  } while (got < least);
  return got;
}

Result<void> read_all(int fd, const Take& take) {
  constexpr std::size_t longest_magic = 8;
  std::vector<char> buffer(piece);
  std::unique_ptr<Unpacker> unpacker;
  while (true) {
    const auto got = read_some(fd, buffer, unpacker == nullptr ? longest_magic : 1);
    if (!got) return fail(got.error());
    if (unpacker == nullptr) {
      auto made = unpacker_for({buffer.data(), *got}, take);
      if (!made) return fail(made.error());
      unpacker = *std::move(made);
    }
    if (*got == 0) return unpacker->finish();
    if (auto added = unpacker->add({buffer.data(), *got}); !added) return added;
  }
}

}  // namespace

Result<void> read_log_file(const std::string& path, const Take& take) {
  if (path == "-") return read_all(STDIN_FILENO, take);
  const UniqueFd fd(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC));  // NOLINT(cppcoreguidelines-pro-type-vararg)
  if (fd.get() < 0) return fail(Error::from_errno(errno, "open it"));
  return read_all(fd.get(), take);
}

}  // namespace stoker::event
