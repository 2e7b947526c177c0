// The archive is one that tar reads.
#include "evidence_bundle.h"

#include <gmock/gmock.h>
#include <zstd.h>

namespace stoker::app {
namespace {

using ::testing::HasSubstr;

std::string unpack(const std::string& packed) {
  std::string archive(ZSTD_getFrameContentSize(packed.data(), packed.size()), '\0');
  EXPECT_EQ(ZSTD_decompress(archive.data(), archive.size(), packed.data(), packed.size()),
            archive.size());
  return archive;
}

TEST(Bundle, HasEachMemberBehindItsHeaderInWholeBlocks) {
  const auto packed =
      pack_bundle({{"a/one.json", "{}"}, {"a/two.json", std::string(512, 'x')}}, {Seconds(1)});
  ASSERT_TRUE(packed);
  const auto archive = unpack(*packed);
  ASSERT_EQ(archive.size(), 6 * 512U);
  EXPECT_EQ(archive.substr(0, 10), "a/one.json");
  EXPECT_EQ(archive.substr(124, 11), "00000000002");
  EXPECT_EQ(archive.substr(257, 5), "ustar");
  EXPECT_EQ(archive.substr(512, 2), "{}");
  EXPECT_EQ(archive.substr(1024, 10), "a/two.json");
  std::uint64_t sum = 0;
  for (std::size_t n = 0; n < 512; ++n) {
    sum += n >= 148 && n < 156 ? ' ' : static_cast<unsigned char>(archive[n]);
  }
  EXPECT_EQ(std::stoull(archive.substr(148, 6), nullptr, 8), sum);
}

TEST(Bundle, AnAgentThatDoesNotTellAPageIsSaidInTheBundle) {
  const auto members = gather_bundle("3", "{}", "0000:9a:00.0", [](const std::string& page) {
    return page == "/api/v1/status" ? Result<std::string>("status")
                                    : Result<std::string>(fail(ErrorCode::timeout, "too slow"));
  });
  ASSERT_EQ(members.size(), 11U);
  EXPECT_EQ(members[1].name, "incident-3/status.json");
  EXPECT_EQ(members[2].name, "incident-3/events.missing.txt");
  EXPECT_THAT(members[2].content, HasSubstr("too slow"));
}

TEST(Bundle, ANameThatTarCantHoldIsRefused) {
  EXPECT_FALSE(pack_bundle({{std::string(101, 'n'), ""}}, {}));
}

}  // namespace
}  // namespace stoker::app
