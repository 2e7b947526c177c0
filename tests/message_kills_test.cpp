// kill -9 of the whole program at any moment, while its kernel log storms, people change incidents and a webhook
// receives: no incident is lost or doubled, and what is told of each arrives once, in order, under its own key.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <random>

#include "base/clock.h"
#include "base/text.h"
#include "base/thread_safety.h"
#include "db/incident_db.h"
#include "device/simnode/kernel_log.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using std::chrono::milliseconds;

int kills() {
  const char* wanted = std::getenv("STOKER_KILLS");
  return wanted == nullptr ? 25 : std::atoi(wanted);
}

struct Receipt {
  int life = 0;  // of the program that sent it
  bool taken = false;
  std::string key, body;
  std::uint64_t incident = 0, revision = 0;
};

// What stands behind `name` in a body, up to the next comma or quote.
std::string value_of(const std::string& body, const std::string& name) {
  const auto mark = "\"" + name + "\":";
  const auto at = body.find(mark);
  if (at == std::string::npos) return {};
  const auto begin = at + mark.size() + (body[at + mark.size()] == '"' ? 1 : 0);
  return body.substr(begin, body.find_first_of("\",}", begin) - begin);
}

// The webhook. Now and then it refuses, or kills who sends before it has its answer.
class Receiver {
 public:
  Receiver() {
    auto server = net::HttpServer::bind({.listen = "127.0.0.1:0"});
    if (!server) std::abort();
    server_ = std::move(*server);
    server_->serve([this](const net::Request& request) { return receive(request); });
  }

  [[nodiscard]] std::string url() const { return "http://" + server_->address() + "/hook"; }
  // What the one before has sent has been received then: the second answer comes after all that was there with the
  // first question.
  void begin_life(int number) {
    for (int n = 0; n < 2; ++n) static_cast<void>(net::http_get(url()));
    const MutexLock lock(mutex_);
    life_ = number;
    kill_in_ = 0;
  }
  // At the so manieth message from now.
  void kill_at_message(pid_t pid, int number) {
    const MutexLock lock(mutex_);
    victim_ = pid;
    kill_in_ = number;
  }
  void refuse_nothing_more() {
    const MutexLock lock(mutex_);
    refuses_ = false;
  }
  [[nodiscard]] std::vector<Receipt> receipts() {
    const MutexLock lock(mutex_);
    return receipts_;
  }

 private:
  net::Response receive(const net::Request& request) {
    if (request.method != "POST") return {};
    const MutexLock lock(mutex_);
    Receipt got{.life = life_, .body = request.body};
    got.key = value_of(request.body, "key");
    got.incident = whole_number<std::uint64_t>(value_of(request.body, "id")).value_or(0);
    got.revision = whole_number<std::uint64_t>(value_of(request.body, "revision")).value_or(0);
    got.taken = !refuses_ || random_() % 50 != 0;
    receipts_.push_back(got);
    if (kill_in_ > 0) {
      --kill_in_;
      if (kill_in_ == 0) ::kill(victim_, SIGKILL);
    }
    return {.status = got.taken ? 200 : 503};
  }

  std::unique_ptr<net::HttpServer> server_;
  Mutex mutex_;
  std::mt19937 random_ GUARDED_BY(mutex_){std::random_device{}()};
  std::vector<Receipt> receipts_ GUARDED_BY(mutex_);
  bool refuses_ GUARDED_BY(mutex_) = true;
  int life_ GUARDED_BY(mutex_) = 0;
  int kill_in_ GUARDED_BY(mutex_) = 0;  // messages; 0: not asked to
  pid_t victim_ GUARDED_BY(mutex_) = -1;
};

class KilledProgram : public ::testing::Test {
 protected:
  std::vector<std::string> up() {
    return {"up",       "--sim",       "hgx-h100", "--data", data_,
            "--listen", "127.0.0.1:0", "--config", config_};
  }

  void storm(int lines) {
    // Causes that stand, and take one another over; no check counts these.
    constexpr std::array<const char*, 3> texts = {"119, pid=20, name=x, Timeout",
                                                  "79, GPU has fallen off the bus.",
                                                  "62, pid=20, name=x, 0000(0000) 00000000"};
    constexpr std::array<const char*, 4> gpus = {"1b", "43", "52", "61"};
    std::vector<std::string> all;
    for (int n = 0; n < lines; ++n, ++written_) {
      all.push_back(fmt::format("NVRM: Xid (PCI:0000:{}:00): {}", gpus.at(random_() % gpus.size()),
                                texts.at(random_() % texts.size())));
    }
    const auto now = system_clock().monotonic().since_boot / std::chrono::microseconds(1);
    const simnode::KernelLog log(data_ + "/sim/root/dev/kmsg");
    ASSERT_TRUE(log.append(simnode::KernelLevel::warning, static_cast<std::uint64_t>(now), all));
  }
  // Whether it is done in time or dies with the program is all the same.
  void change_one() {
    std::uint64_t last = 1;
    for (const auto& one : receiver_.receipts()) last = std::max(last, one.incident);
    const std::uint64_t id = last - std::min<std::uint64_t>(last - 1, random_() % 4);
    constexpr std::array<const char*, 4> states = {"acknowledged", "mitigating", "open",
                                                   "resolved"};
    static_cast<void>(
        net::http_send({.method = "POST",
                        .url = fmt::format("http://agent/api/v1/incidents/{}", id),
                        .body = fmt::format(R"({{"to":"{}"}})", states.at(random_() % 4)),
                        .unix_socket = data_ + "/stoker.sock"},
                       {.timeout = milliseconds(500)}));
  }
  void live_and_die(int life) {
    receiver_.begin_life(life);
    StokerProcess program(up());
    const bool by_message = random_() % 2 == 0;
    if (by_message) receiver_.kill_at_message(program.pid(), 1 + static_cast<int>(random_() % 6));
    const auto end =
        std::chrono::steady_clock::now() + milliseconds(by_message ? 3000 : random_() % 900);
    while (!program.wait(milliseconds(0)) && std::chrono::steady_clock::now() < end) {
      storm(1 + static_cast<int>(random_() % 20));
      change_one();
      std::this_thread::sleep_for(milliseconds(random_() % 40));
    }
    program.signal(SIGKILL);
    ASSERT_TRUE(program.wait());
  }
  std::vector<Incident> kept() {
    auto file = db::IncidentDb::open(data_ + "/incidents.db");
    auto all =
        file ? (*file)->load(db::IncidentDb::most_kept) : Result<db::Kept>(fail(file.error()));
    return all ? std::move(all->incidents) : std::vector<Incident>();
  }
  std::uint64_t counted() {
    std::uint64_t sum = 0;
    for (const auto& one : kept()) sum += one.occurrences;
    return sum;
  }
  // By incident.
  std::map<std::uint64_t, std::uint64_t> last_taken() {
    std::map<std::uint64_t, std::uint64_t> revisions;
    for (const auto& one : receiver_.receipts()) {
      if (one.taken) revisions[one.incident] = one.revision;
    }
    return revisions;
  }
  bool all_is_told() {
    const auto taken = last_taken();
    return std::ranges::all_of(kept(), [&](const Incident& one) {
      const auto at = taken.find(one.id);
      return at != taken.end() && at->second == one.revision;
    });
  }
  // The program runs on without kills until everything is heard and told.
  void live_in_peace() {
    receiver_.begin_life(kills());
    receiver_.refuse_nothing_more();
    StokerProcess program(up());
    ASSERT_NE(program.wait_ready(), "") << program.err();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60 * slowdown);
    while ((counted() < written_ || !all_is_told()) && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(milliseconds(100));
    }
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait(), 0) << program.err();
  }

  const TempFolder folder_;
  const std::string data_ = folder_.path("data");
  Receiver receiver_;
  const std::string config_ =
      folder_.write("stoker.yaml", fmt::format("notify: {{webhook: '{}'}}\n", receiver_.url()));
  std::mt19937 random_{std::random_device{}()};
  std::uint64_t written_ = 0;
};

void expect_in_order(const std::vector<Receipt>& receipts) {
  std::map<std::uint64_t, std::uint64_t> revisions;
  std::map<std::string, std::string> bodies;
  std::map<int, std::string> last_of_life;
  std::map<std::string, int> taken_in;  // by key: the life
  for (const auto& one : receipts) {
    ASSERT_FALSE(one.key.empty()) << one.body;
    EXPECT_TRUE(one.key.ends_with(fmt::format("/{}/{}", one.incident, one.revision))) << one.key;
    EXPECT_GE(one.revision, revisions[one.incident]) << one.key << " came after a later one";
    revisions[one.incident] = one.revision;
    const auto& body = bodies.try_emplace(one.key, one.body).first->second;
    EXPECT_EQ(body, one.body) << one.key << " came again with another body";
    const auto before = taken_in.find(one.key);
    if (before != taken_in.end()) {
      EXPECT_LT(before->second, one.life) << one.key << " came twice from one life";
      EXPECT_EQ(last_of_life[before->second], one.key) << "it was not under way at the kill";
    }
    last_of_life[one.life] = one.key;
    if (one.taken) taken_in[one.key] = one.life;
  }
}

TEST_F(KilledProgram, LosesNoIncidentAndTellsEachRevisionOnceUnderItsKey) {
  ASSERT_EQ(run_stoker({"sim", "node", "hgx-h100", "--data", data_}).status, 0);
  // A first life in peace: what stood in the log before it would be history.
  live_in_peace();
  for (int life = 0; life < kills() && !HasFailure(); ++life) live_and_die(life);
  live_in_peace();
  EXPECT_EQ(counted(), written_);
  EXPECT_TRUE(all_is_told());
  const auto incidents = kept();
  for (std::size_t n = 0; n < incidents.size(); ++n) EXPECT_EQ(incidents[n].id, n + 1);
  const auto receipts = receiver_.receipts();
  expect_in_order(receipts);
  std::map<std::string, int> times;
  int again = 0;
  for (const auto& one : receipts) again += one.taken && ++times[one.key] > 1 ? 1 : 0;
  fmt::print("{} kills, {} lines, {} incidents, {} messages, {} of them sent again after a kill\n",
             kills(), written_, incidents.size(), receipts.size(), again);
}

}  // namespace
}  // namespace stoker::test
