#include "inquirer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "inquirer_test_support.h"

namespace stoker::app {
namespace {

bool says(const JobWord& word, std::string_view what) {
  return text_of(word).find(what) != std::string::npos;
}

std::string capture(const std::string& name) {
  std::ifstream file(STOKER_SOURCE_DIR "/tests/fixtures/captures/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Inquirer, SaysWhoIsMissingByWhatRasSays) {
  const FakeJob job;
  const FakePort port(ras_that_says(ras_json({15, 15, 15, 14}, FakeJob::first_pid)));
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
    job.set_environment(rank, {port.variable()});
  const auto word = job.ask();
  EXPECT_EQ(word.verdict, "missing-rank") << text_of(word);
  EXPECT_EQ(word.confidence, "likely");
  EXPECT_TRUE(word.blames);
  EXPECT_TRUE(says(word, "NCCL's account: missing-rank (likely), rank 3")) << text_of(word);
  EXPECT_TRUE(says(word, "rank 3: AllReduce 14")) << text_of(word);
  EXPECT_TRUE(says(word, "next: ")) << text_of(word);
}

// Of the one who has `fd`'s other end, as the kernel tells it of this machine's sockets.
std::string peer_uid(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the sockets API
  ::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size);
  const auto local = fmt::format(":{:04X}", ntohs(address.sin_port));
  std::ifstream table("/proc/thread-self/net/tcp");
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string number, from, to, state, queues, timer, again, uid;
    words >> number >> from >> to >> state >> queues >> timer >> again >> uid;
    if (from.ends_with(local) && state == "01") return uid;
  }
  return "unknown";
}

TEST(Inquirer, ConnectsToRasWithTheRightsOfTheJobsUser) {
  const FakeJob job;
  std::mutex mutex;
  std::set<std::string> uids;
  const FakePort port([&](int fd) {
    {
      const std::scoped_lock lock(mutex);
      uids.insert(peer_uid(fd));
    }
    ras_that_says(ras_json({15, 15, 15, 14}, FakeJob::first_pid))(fd);
  });
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
    job.set_environment(rank, {port.variable()});
  EXPECT_EQ(job.ask().verdict, "missing-rank");
  const std::scoped_lock lock(mutex);
  EXPECT_EQ(uids, std::set<std::string>{std::to_string(FakeJob::uid())});
}

TEST(Inquirer, SaysOnceWhatIsSoOfAllRanks) {
  const FakeJob job;
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
    job.set_environment(rank, {"NCCL_RAS_ENABLE=0",
                               "NCCL_DEBUG_FILE=" + job.path(fmt::format("rank{}.log", rank))});
  const auto word = job.ask();
  EXPECT_TRUE(says(word, "rank1.log and 2 more: No such file or directory")) << text_of(word);
}

TEST(Inquirer, SaysThatNobodyListens) {
  const FakeJob job;
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
    job.set_environment(rank, {"NCCL_RAS_ADDR=127.0.0.1:1"});
  const auto word = job.ask();
  EXPECT_EQ(word.verdict, "");
  EXPECT_FALSE(word.blames);
  EXPECT_TRUE(says(word, "not asked: RAS of process 4200000")) << text_of(word);
  EXPECT_TRUE(says(word, "refused")) << text_of(word);
}

TEST(Inquirer, WaitsForARasThatSaysNothingOnlySoLong) {
  const FakeJob job;
  const FakePort port([](int fd) {
    char piece[64];
    while (::recv(fd, piece, sizeof piece, 0) > 0) {
    }
  });
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
    job.set_environment(rank, {port.variable()});
  const auto began = std::chrono::steady_clock::now();
  const auto word = job.ask({}, 0.2);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  EXPECT_EQ(word.verdict, "");
  EXPECT_TRUE(says(word, "no answer in time")) << text_of(word);
}

TEST(Inquirer, TakesNothingFromWhatIsNoRas) {
  const FakeJob job;
  const FakePort port([](int fd) {
    const std::string_view text = "HTTP/1.1 400 Bad Request\r\n\r\n";
    ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
  });
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
    job.set_environment(rank, {port.variable()});
  const auto word = job.ask();
  EXPECT_EQ(word.verdict, "");
  EXPECT_TRUE(says(word, "is not NCCL's RAS")) << text_of(word);
}

TEST(Inquirer, EndsWithARasThatNeverEnds) {
  const FakeJob job;
  const FakePort port([](int fd) {
    ras_that_says("{\n")(fd);
    const std::string block(1 << 20U, ' ');
    while (::send(fd, block.data(), block.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
    job.set_environment(rank, {port.variable()});
  const auto word = job.ask({}, 30);
  EXPECT_EQ(word.verdict, "");
  EXPECT_TRUE(says(word, "the answer is too long")) << text_of(word);
}

TEST(Inquirer, LeavesOutARasOfAnotherJob) {
  const FakeJob job;
  const FakePort port(ras_that_says(ras_json({15, 15, 15, 14}, 777)));
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
    job.set_environment(rank, {port.variable()});
  const auto word = job.ask();
  EXPECT_EQ(word.verdict, "");
  EXPECT_TRUE(says(word, "it answered for other processes")) << text_of(word);
}

TEST(Inquirer, TakesNoAnswerForTheJobFromAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user's socket takes root";
  const FakeJob job;
  const FakePort port(ras_that_says(ras_json({15, 15, 15, 14}, FakeJob::first_pid)),
                      FakeJob::uid() + 1);
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
    job.set_environment(rank, {port.variable()});
  const auto word = job.ask();
  EXPECT_EQ(word.verdict, "") << text_of(word);
  EXPECT_TRUE(says(word, "is of uid 51002 and none of the job's processes")) << text_of(word);
}

TEST(Inquirer, ShowsNoCommandsOfATerminal) {
  const FakeJob job;
  const FakePort port(ras_that_says(ras_json({15, 15, 15, 14}, FakeJob::first_pid,
                                             "\\u001b[2Jhost\xC2\x9B"
                                             "31m\xFF")));
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
    job.set_environment(rank, {port.variable()});
  const auto text = text_of(job.ask());
  EXPECT_EQ(text.find('\x1B'), std::string::npos) << text;
  EXPECT_EQ(text.find("\xC2\x9B"), std::string::npos) << text;
  EXPECT_EQ(text.find('\xFF'), std::string::npos) << text;
}

TEST(Inquirer, AsksNoPlaceButLoopback) {
  const FakeJob job;
  for (const auto* address : {"198.51.100.7:28028", "ras.example.com:28028", "nonsense:port"}) {
    for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
      job.set_environment(rank, {fmt::format("NCCL_RAS_ADDR={}", address)});
    const auto word = job.ask();
    EXPECT_TRUE(says(word, fmt::format("NCCL_RAS_ADDR={} is no", address)) ||
                says(word, "is not loopback"))
        << text_of(word);
  }
}

TEST(Inquirer, ReadsTheDumpsThatTheEnvironmentNames) {
  const FakeJob job;
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank) {
    job.write(fmt::format("trace_{}", rank),
              capture(fmt::format("h200x4/fr-hang-{}.pickle", rank)));
    job.set_environment(rank,
                        {"NCCL_RAS_ENABLE=0", "TORCH_FR_DUMP_TEMP_FILE=" + job.path("trace_")});
  }
  const auto word = job.ask();
  EXPECT_EQ(word.verdict, "missing-rank") << text_of(word);
  EXPECT_EQ(word.confidence, "certain");
  EXPECT_TRUE(says(word, "rank 3")) << text_of(word);
  EXPECT_TRUE(says(word, "NCCL_RAS_ENABLE=0")) << text_of(word);
}

TEST(Inquirer, ReadsOnlyRegularFilesOfTheJobsUserSinceItBegan) {
  const FakeJob job;
  const auto log = capture("h200x4/nccl-hang.txt");
  job.write("old.log", log);
  const timespec old[2] = {{.tv_sec = 1000, .tv_nsec = 0}, {.tv_sec = 1000, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, job.path("old.log").c_str(), old, 0), 0);
  ASSERT_EQ(::mkfifo(job.path("fifo.log").c_str(), 0666), 0);
  job.set_environment(0, {"NCCL_RAS_ENABLE=0", "NCCL_DEBUG_FILE=" + job.path("old.log")});
  job.set_environment(1, {"NCCL_RAS_ENABLE=0", "NCCL_DEBUG_FILE=" + job.path("fifo.log")});
  job.set_environment(2, {"NCCL_RAS_ENABLE=0", "NCCL_DEBUG_FILE=/dev/zero"});
  job.set_environment(3, {"NCCL_RAS_ENABLE=0", "NCCL_DEBUG_FILE=" + job.path("link.log")});
  // Root's file, or at least one that is not the user's: the link is followed, and what it leads to is looked at.
  std::filesystem::create_symlink("/etc/passwd", job.path("link.log"));
  const auto word = job.ask();
  EXPECT_EQ(word.verdict, "") << text_of(word);
  EXPECT_TRUE(says(word, "old.log: it was last written before")) << text_of(word);
  EXPECT_TRUE(says(word, "fifo.log, /dev/zero: it is no regular file")) << text_of(word);
  EXPECT_TRUE(says(word, "link.log: it belongs to uid 0")) << text_of(word);
  EXPECT_FALSE(says(word, "root:")) << text_of(word);
}

TEST(Inquirer, ReadsNoFileThatItsUserMayNotRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user's rights take root";
  const FakeJob job;
  // Its own, in a folder that it may not enter.
  std::filesystem::create_directory(job.path("closed"));
  job.write("closed/rank.log", capture("h200x4/nccl-hang.txt"));
  std::filesystem::permissions(job.path("closed"), std::filesystem::perms(0700));
  job.set_environment(0, {"NCCL_RAS_ENABLE=0", "NCCL_DEBUG_FILE=" + job.path("closed/rank.log")});
  const auto word = job.ask();
  EXPECT_EQ(word.verdict, "") << text_of(word);
  EXPECT_TRUE(says(word, "Permission denied")) << text_of(word);
}

TEST(Inquirer, BelievesOfAPacketItsFormAlone) {
  JobWord word;
  for (const auto* packet :
       {"class\tdead-meat", "confidence\tabsolute", "line", "", "\t", "nonsense\tx"})
    take_packet(packet, word);
  EXPECT_EQ(word, JobWord{});
  std::string bytes = "line\t";
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  for (int i = 0; i < 100; ++i) take_packet(bytes + std::string(100'000, 'x'), word);
  ASSERT_EQ(word.lines.size(), 24U);
  EXPECT_LE(word.lines[0].size(), 1000U);
  EXPECT_EQ(word.lines[0].find_first_of("\x1B\n\r\x7F"), std::string::npos);
  take_packet("class\thealthy", word);
  take_packet("confidence\tcertain", word);
  EXPECT_FALSE(word.blames);
  take_packet("class\tdead-rank", word);
  EXPECT_TRUE(word.blames);
}

// The lines of two processes of this host, of which one never finished starting.
std::string start_lines(std::uint32_t pid, const std::string& host, int rank, bool complete) {
  std::string text = fmt::format(
      "{0}:{1}:{1} [0] NCCL INFO comm 0x55 rank {2} nranks 4 cudaDev {2} nvmlDev {2} busId {3}000 "
      "commId 0xd94ee3f5c044281 - Init START\n",
      host, pid, rank, rank + 1);
  if (complete)
    text += fmt::format(
        "{0}:{1}:{1} [0] NCCL INFO comm 0x55 rank {2} nranks 4 cudaDev {2} nvmlDev {2} busId "
        "{3}000 "
        "commId 0xd94ee3f5c044281 - Init COMPLETE\n",
        host, pid, rank, rank + 1);
  return text;
}

std::string this_host() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return std::string(name).substr(0, std::string(name).find('.'));
}

TEST(Inquirer, ReadsBeginningAndEndOfALogThatIsHuge) {
  const FakeJob job;
  std::string log;
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
    log += start_lines(FakeJob::first_pid + rank, this_host(), static_cast<int>(rank), true);
  job.write("all.log", log);
  // A gibibyte of which nothing takes room on the disk, then its end.
  std::filesystem::resize_file(job.path("all.log"), std::size_t{1} << 30U);
  {
    std::ofstream end(job.path("all.log"), std::ios::app | std::ios::binary);
    end << '\n'
        << this_host()
        << ":4200002:9 [2] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion from peer "
        << "192.0.2.9<4000> with status=12 opcode=1 len=0 vendor err 129 (Send) hca mlx5_2\n";
  }
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
    job.set_environment(rank, {"NCCL_RAS_ENABLE=0", "NCCL_DEBUG_FILE=" + job.path("all.log")});
  const auto began = std::chrono::steady_clock::now();
  const auto word = job.ask();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  EXPECT_EQ(word.verdict, "ib-transport") << text_of(word);
  EXPECT_TRUE(says(word, "rank 2")) << text_of(word);
  EXPECT_TRUE(says(word, "1015 MiB between its beginning and its end were not read"))
      << text_of(word);
}

TEST(Inquirer, BlamesNobodyByALogOfOtherProcesses) {
  const FakeJob job;
  std::string other;
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank) {
    // The same numbers on another host.
    other += start_lines(FakeJob::first_pid + rank, "elsewhere", static_cast<int>(rank), true);
  }
  other +=
      "elsewhere:4200002:9 [2] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion from peer "
      "192.0.2.9<4000> with status=12 opcode=1 len=0 vendor err 129 (Send) hca mlx5_2\n";
  job.write("logs/a.out", other);
  for (std::uint32_t rank = 0; rank < FakeJob::ranks; ++rank)
    job.set_environment(rank, {"NCCL_RAS_ENABLE=0"});
  const auto word = job.ask({job.path("logs/*.out")});
  EXPECT_EQ(word.verdict, "") << text_of(word);
  EXPECT_TRUE(says(word, "a.out: of other processes than this job's")) << text_of(word);
}

// A process in a network of its own, with a RAS in it. Returns its pid; 0: this machine does not let us.
pid_t start_in_own_network(const std::function<void(int)>& answer) {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) return 0;
  const pid_t child = ::fork();
  if (child == 0) {
    const UniqueFd fd(::unshare(CLONE_NEWNET) == 0 ? ::socket(AF_INET, SOCK_STREAM, 0) : -1);
    ifreq lo{.ifr_ifrn = {.ifrn_name = "lo"}};
    lo.ifr_flags = IFF_UP;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(28028);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the sockets API
    const auto* plain = reinterpret_cast<const sockaddr*>(&address);
    if (!fd.valid() || ::ioctl(fd.get(), SIOCSIFFLAGS, &lo) != 0 ||
        ::bind(fd.get(), plain, sizeof address) != 0 || ::listen(fd.get(), 4) != 0)
      ::_exit(1);
    if (::write(ready[1], "r", 1) != 1) ::_exit(1);
    while (true) {
      const UniqueFd one(::accept4(fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
      answer(one.get());
    }
  }
  ::close(ready[1]);
  char byte = 0;
  const bool runs = ::read(ready[0], &byte, 1) == 1;
  ::close(ready[0]);
  if (runs) return child;
  ::waitpid(child, nullptr, 0);
  return 0;
}

TEST(Inquirer, EntersTheNetworkOfTheProcess) {
  const auto child = start_in_own_network([](int fd) {
    const auto self = static_cast<std::uint32_t>(::getpid());
    ras_that_says(ras_json({14, 15}, self))(fd);
  });
  if (child == 0) GTEST_SKIP() << "no network namespace may be made here";
  InquirerOptions options{.pids = {static_cast<std::uint32_t>(child)}};
  options.ras_wait_seconds = 0.01;
  const auto word = FakeJob::run(options);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  // Of two ranks one is not of this process: where all are listed, ours are, and there is but one of ours.
  EXPECT_EQ(word.verdict, "missing-rank") << text_of(word);
  EXPECT_TRUE(says(word, "rank 0")) << text_of(word);
}

}  // namespace
}  // namespace stoker::app
