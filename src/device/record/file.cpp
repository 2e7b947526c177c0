#include "device/record/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace stoker::device::record {
namespace {

constexpr std::size_t header_bytes = 8;  // size and CRC
constexpr std::size_t time_bytes = 8;    // of the last event
constexpr std::uint64_t max_payload_bytes = max_block_bytes + 4096;
constexpr int level = 3;  // zstd's default

void put32(std::string& out, std::uint32_t value) {
  for (int n = 0; n < 4; ++n) out.push_back(static_cast<char>(value >> (8 * n)));
}

std::uint32_t get32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (int n = 3; n >= 0; --n) value = value << 8 | static_cast<unsigned char>(bytes[n]);
  return value;
}

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()),
                                            static_cast<z_size_t>(bytes.size())));
}

// Fewer bytes than asked for only at the end of the file.
Result<std::string> read_at(int fd, std::uint64_t at, std::size_t size, const std::string& path) {
  std::string bytes(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t more = pread(fd, bytes.data() + got, size - got, static_cast<off_t>(at + got));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return fail(Error::from_errno(errno, fmt::format("read {}", path)));
    if (more == 0) break;
    got += static_cast<std::size_t>(more);
  }
  bytes.resize(got);
  return bytes;
}

bool is_zeros(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char byte) { return byte == 0; });
}

Result<std::string> unpack(std::string_view packed) {
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
      size > max_block_bytes) {
    return fail(ErrorCode::corrupt, "a block is not compressed as it should be");
  }
  std::string block(size, '\0');
  const auto got = ZSTD_decompress(block.data(), block.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != size) {
    return fail(ErrorCode::corrupt, "a block can't be unpacked");
  }
  return block;
}

Result<void> check_magic(int fd, const std::string& path) {
  const auto line = read_at(fd, 0, magic.size(), path);
  if (!line) return fail(line.error());
  if (*line == magic) return {};
  constexpr std::string_view any_version = "stoker recording ";
  if (!line->starts_with(any_version)) {
    return fail(ErrorCode::invalid_input, fmt::format("{}: no recording of Stoker", path));
  }
  return fail(ErrorCode::invalid_input,
              fmt::format("{}: a recording in another version of the format; this Stoker reads "
                          "version 1",
                          path));
}

struct FrameSeen {
  MonotonicTime last;
  std::uint64_t bytes = 0;
};

// The frame at `at`, of which `left` bytes are there; none: it was not written whole.
Result<std::optional<FrameSeen>> look_at(int fd, std::uint64_t at, std::uint64_t left,
                                         const std::string& path) {
  if (left < header_bytes) return std::nullopt;
  const auto header = read_at(fd, at, header_bytes, path);
  if (!header) return fail(header.error());
  const std::uint64_t size = get32(*header);
  if (size > left - header_bytes) return std::nullopt;
  const auto payload = read_at(fd, at + header_bytes, std::min(size, max_payload_bytes), path);
  if (!payload) return fail(payload.error());
  const bool whole = payload->size() == size && size > time_bytes &&
                     crc_of(*payload) == get32(std::string_view(*header).substr(4));
  if (whole) {
    const MonotonicTime last{Nanoseconds(static_cast<std::int64_t>(In(*payload).fixed64()))};
    return FrameSeen{last, header_bytes + size};
  }
  // A machine that lost power leaves zeros, or a last frame of which parts are missing.
  if (size == left - header_bytes || is_zeros(*header)) return std::nullopt;
  return fail(ErrorCode::corrupt,
              fmt::format("{}: changed or damaged {} bytes from its beginning", path, at));
}

}  // namespace

std::string make_frame(std::string_view block, MonotonicTime last) {
  Out payload;
  payload.fixed64(static_cast<std::uint64_t>(last.since_boot.count()));
  std::string packed(ZSTD_compressBound(block.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), block.data(), block.size(), level));
  payload.raw(packed);
  std::string frame;
  put32(frame, static_cast<std::uint32_t>(payload.bytes().size()));
  put32(frame, crc_of(payload.bytes()));
  return frame + payload.bytes();
}

FileReader::FileReader(UniqueFd fd, std::string path)
    : path_(std::move(path)), fd_(std::move(fd)) {}

Result<FileReader> FileReader::open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return fail(Error::from_errno(errno, fmt::format("open {}", path)));
  FileReader reader(std::move(fd), path);
  if (auto looked = reader.look_at_frames(); !looked) return fail(looked.error());
  auto first = reader.next();
  if (!first) return fail(first.error());
  const auto* begin = *first ? std::get_if<Begin>(&(*first)->what) : nullptr;
  if (begin == nullptr) {
    return fail(ErrorCode::corrupt,
                fmt::format("{}: a recording has to begin with its node", path));
  }
  reader.facts_.begin = *begin;
  reader.facts_.first = (*first)->told;
  reader.events_.push_front(std::move(**first));
  return reader;
}

Result<void> FileReader::look_at_frames() {
  struct stat status{};
  if (fstat(fd_.get(), &status) != 0) {
    return fail(Error::from_errno(errno, fmt::format("look at {}", path_)));
  }
  if (auto known = check_magic(fd_.get(), path_); !known) return known;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  facts_.bytes = magic.size();
  while (facts_.bytes < size) {
    const auto frame = look_at(fd_.get(), facts_.bytes, size - facts_.bytes, path_);
    if (!frame) return fail(frame.error());
    if (!*frame) break;
    facts_.last = (*frame)->last;
    facts_.bytes += (*frame)->bytes;
  }
  facts_.lost_bytes = size - facts_.bytes;
  if (facts_.bytes > magic.size()) return {};
  return fail(ErrorCode::corrupt,
              fmt::format("{}: a recording of which nothing whole is left", path_));
}

Result<void> FileReader::read_frame() {
  const auto header = read_at(fd_.get(), at_, header_bytes, path_);
  if (!header || header->size() < header_bytes) {
    return fail(header ? Error(ErrorCode::io, fmt::format("{}: it became shorter", path_))
                       : header.error());
  }
  const std::size_t size = get32(*header);
  const auto payload = read_at(fd_.get(), at_ + header_bytes, size, path_);
  if (!payload) return fail(payload.error());
  if (payload->size() < size || size < time_bytes) {
    return fail(ErrorCode::io, fmt::format("{}: it became shorter", path_));
  }
  const auto block = unpack(std::string_view(*payload).substr(time_bytes));
  if (!block) return fail(Error(ErrorCode::corrupt, path_).caused_by(block.error()));
  at_ += header_bytes + size;
  auto read =
      decoder_->read_block(*block, [this](Event event) { events_.push_back(std::move(event)); });
  if (!read) return fail(Error(ErrorCode::corrupt, path_).caused_by(read.error()));
  return {};
}

Result<std::optional<Event>> FileReader::next() {
  while (events_.empty() && at_ < facts_.bytes) {
    if (auto read = read_frame(); !read) return fail(read.error());
  }
  if (events_.empty()) return std::optional<Event>();
  std::optional<Event> event = std::move(events_.front());
  events_.pop_front();
  return event;
}

}  // namespace stoker::device::record
