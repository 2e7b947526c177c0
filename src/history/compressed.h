// History stage: a zstd stream with a checksum, written piece by piece.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct ZSTD_CCtx_s;

namespace stoker::history {

// Takes a few hundred KiB while it lives, whatever is put through.
class Compressor {
 public:
  using Sink = std::function<Result<void>(std::string_view)>;
  explicit Compressor(Sink sink);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // The first error of the sink ends it.
  Result<void> add(std::string_view bytes);
  Result<void> finish();

 private:
  Result<void> step(std::string_view bytes, bool end);

  const Sink sink_;
  ZSTD_CCtx_s* context_;
  std::vector<char> out_;
};

// The whole content of the file at `path`, unpacked: not_found, io, or corrupt where the stream is cut,
// changed, or more than 64 MiB.
Result<std::string> read_compressed(const std::string& path);

}  // namespace stoker::history
