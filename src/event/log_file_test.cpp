#include "event/log_file.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>

namespace stoker::event {
namespace {

std::string gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstandard(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

class LogFile : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  Result<void> read(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
    got_.clear();
    return read_log_file(path_, [&](std::string_view bytes) { got_ += bytes; });
  }

  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("stoker_log_" + std::to_string(::getpid()));
  std::string got_;
};

TEST_F(LogFile, IsReadPackedOrNot) {
  std::string text;
  for (int n = 0; n < 100'000; ++n) text += "line " + std::to_string(n) + "\n";
  for (const auto& content : {text, gzipped(text), zstandard(text)}) {
    const auto result = read(content);
    EXPECT_TRUE(result.has_value()) << result.error().describe();
    EXPECT_EQ(got_ == text, true);
  }
  EXPECT_TRUE(read(gzipped("one\n") + gzipped("two\n")).has_value());
  EXPECT_EQ(got_, "one\ntwo\n");
  EXPECT_TRUE(read(zstandard("one\n") + zstandard("two\n")).has_value());
  EXPECT_EQ(got_, "one\ntwo\n");
  EXPECT_TRUE(read("").has_value());
  EXPECT_EQ(got_, "");
}

TEST_F(LogFile, ThatIsCutGivesWhatThereIsAndSaysSo) {
  const std::string text(500'000, 'x');
  for (auto packed : {gzipped(text), zstandard(text + "y")}) {
    packed.resize(packed.size() - 3);
    const auto result = read(packed);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code(), ErrorCode::corrupt);
  }
  EXPECT_EQ(read("\x1f\x8b this is no gzip").error().code(), ErrorCode::corrupt);
}

TEST_F(LogFile, PackedInAnotherWayIsRefusedWithTheWayOut) {
  const auto xz = read(std::string("\xfd") + "7zXZ and more");
  ASSERT_FALSE(xz.has_value());
  EXPECT_NE(xz.error().message().find("xz -dc"), std::string::npos);
  const auto journal = read("LPKSHHRH and more");
  ASSERT_FALSE(journal.has_value());
  EXPECT_NE(journal.error().message().find("journalctl --file"), std::string::npos);
}

TEST_F(LogFile, ThatIsNotThereOrIsAFolderIsAnError) {
  const auto ignore = [](std::string_view) {};
  EXPECT_EQ(read_log_file("/no/such/file", ignore).error().code(), ErrorCode::not_found);
  EXPECT_FALSE(read_log_file("/", ignore).has_value());
}

}  // namespace
}  // namespace stoker::event
