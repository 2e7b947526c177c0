// The real /dev/kmsg: a line that a program writes comes back, with facility 1 and its own number.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "os/kmsg.h"
#include "os/system_env.h"

namespace stoker::os {
namespace {

constexpr const char* rate_limit = "/proc/sys/kernel/printk_devkmsg";

// Lets programs write as much as they like, for one test; Linux' default is a few lines in 5 s.
class UnlimitedPrintk {
 public:
  UnlimitedPrintk() {
    std::ifstream(rate_limit) >> before_;
    std::ofstream(rate_limit) << "on";
  }
  ~UnlimitedPrintk() { std::ofstream(rate_limit) << before_; }
  UnlimitedPrintk(const UnlimitedPrintk&) = delete;
  UnlimitedPrintk& operator=(const UnlimitedPrintk&) = delete;

 private:
  std::string before_;
};

// A line without its newline would stay open for continuation, unseen until the next one comes.
bool write_line(const std::string& text) {
  const UniqueFd fd(::open("/dev/kmsg", O_WRONLY | O_CLOEXEC));
  const std::string line = "<4>" + text + "\n";
  return fd.valid() &&
         ::write(fd.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

TEST(KmsgReal, EveryOfAThousandLinesComesBackInOrder) {
  if (::getuid() != 0) GTEST_SKIP() << "writing /dev/kmsg needs root";
  const auto env = make_system_env();
  if (::access("/dev/kmsg", R_OK | W_OK) != 0 ||
      !UniqueFd(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)).valid()) {
    GTEST_SKIP() << "no /dev/kmsg that can be read and written here";
  }
  const auto follower = follow_kmsg(*env, KmsgStart::end);
  ASSERT_TRUE(follower) << follower.error().describe();
  const UnlimitedPrintk unlimited;
  const std::string mark = "stoker-test-" + std::to_string(::getpid()) + "-";
  std::vector<KmsgRecord> seen;
  for (int n = 0; n < 1000; ++n) {
    if (!write_line(mark + std::to_string(n) + " tab\there"))
      GTEST_SKIP() << "/dev/kmsg can't be written";
    ASSERT_TRUE(n % 50 != 0 || (*follower)->read(seen, 10'000));
  }
  while ((*follower)->wait(Milliseconds(200), Waker()))
    ASSERT_TRUE((*follower)->read(seen, 10'000));

  std::erase_if(seen, [&](const KmsgRecord& record) { return !record.text.starts_with(mark); });
  // Others write, too: what was overwritten may have been theirs.
  ASSERT_FALSE(seen.empty());
  EXPECT_LE(seen.size(), 1000U);
  EXPECT_GE(seen.size() + (*follower)->overwritten(), 1000U);
  EXPECT_EQ((*follower)->malformed(), 0U);
  for (std::size_t n = 1; n < seen.size(); ++n) EXPECT_LT(seen[n - 1].sequence, seen[n].sequence);
  EXPECT_EQ(seen.back().text, mark + "999 tab\there");
  EXPECT_EQ(seen.back().facility, 1U);
  EXPECT_EQ(seen.back().priority, 4);
}

}  // namespace
}  // namespace stoker::os
