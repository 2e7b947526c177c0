#include "diag/worker.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/waker.h"
#include "device/probe/packet.h"
#include "diag/cuda_card.h"
#include "diag/run_plan.h"

namespace stoker::diag {
namespace {

using device::probe::receive_packet;
using device::probe::Wait;

// Blocks while the other end is slow to read: nothing is lost.
void send_message(int fd, const Message& message) {
  const std::string packet = encode(message);
  ::send(fd, packet.data(), packet.size(), MSG_NOSIGNAL);
}

// Sets `stop` when the other end goes away, or says no more. Where the worker has not ended `within` then, it leaves here: the
// thread that is in the driver can't be joined, and nobody may be left who would kill this process, whose memory would stay
// taken. The watch ends with that, or when it is destroyed.
class EndWatch {
 public:
  EndWatch(int fd, Nanoseconds within, std::atomic<bool>& stop)
      : thread_([fd, within, &stop, this] {
          if (!wait_for(fd, Nanoseconds(-1))) return;
          stop = true;
          if (wait_for(-1, within)) ::_exit(left_status);
        }) {}
  ~EndWatch() { waker_.wake(); }
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;

 private:
  static constexpr int left_status = 2;

  // Until `fd` has something, or the time is over (negative: it never is); false: the watch is not needed any more.
  bool wait_for(int fd, Nanoseconds time) {
    std::array<pollfd, 2> waiting = {{{fd, POLLIN, 0}, {waker_.fd(), POLLIN, 0}}};
    const auto until = system_clock().monotonic() + time;
    while (true) {
      const auto left = until - system_clock().monotonic();
      const int limit = time < Nanoseconds{0}
                            ? -1
                            : static_cast<int>(std::max<std::int64_t>(
                                  std::chrono::ceil<Milliseconds>(left).count(), 0));
      const int seen = ::poll(waiting.data(), waiting.size(), limit);
      if (seen < 0 && errno == EINTR) continue;
      return waiting[1].revents == 0;
    }
  }

  Waker waker_;
  std::jthread thread_;
};

Result<Cards> open_cards(const Plan& plan, Opened& opened) {
  // Nobody means all cards by naming none.
  if (plan.cards.empty()) return fail(ErrorCode::invalid_input, "the plan names no card");
  opened.unopened.resize(std::max(plan.cards.size(), plan.simulated.size()));
  if (!plan.simulated.empty()) {
    Cards cards;
    cards.reserve(plan.simulated.size());
    for (const auto& options : plan.simulated) cards.push_back(make_host_card(options));
    opened.notes.emplace_back(
        "simulated cards: threads of this host, whose rates are not measured");
    return cards;
  }
  auto cuda = open_cuda_cards(plan.cards);
  if (!cuda) return fail(cuda.error());
  opened.notes.push_back(fmt::format("CUDA {}.{}", cuda->driver->version() / 1000,
                                     cuda->driver->version() % 1000 / 10));
  for (const auto& one : cuda->unopened) {
    if (one.uuid.empty())
      opened.notes.push_back("a card that can't be asked what it is: " + one.why);
  }
  for (std::size_t i = 0; i < plan.cards.size(); ++i) {
    const std::string& uuid = plan.cards[i].uuid;
    const bool there = std::ranges::any_of(
        cuda->cards, [&](const auto& card) { return card->facts().uuid == uuid; });
    if (there) continue;
    const auto why = std::ranges::find(cuda->unopened, uuid, &UnopenedCard::uuid);
    opened.unopened[i] =
        why != cuda->unopened.end()
            ? why->why
            : "the CUDA driver does not show it; does CUDA_VISIBLE_DEVICES name others?";
  }
  return std::move(cuda->cards);
}

}  // namespace

int run_worker(int fd) {
  const auto packet = receive_packet(fd, Wait::yes);
  if (!packet) return 2;
  auto message = decode(*packet);
  if (!message || !std::holds_alternative<Plan>(*message)) return 2;
  const Plan& plan = std::get<Plan>(*message);
  std::atomic<bool> stop = false;
  // From here on a call of the driver may not come back.
  const auto within = std::chrono::duration_cast<Nanoseconds>(
      std::chrono::duration<double>(plan.ends_within_seconds));
  std::optional<EndWatch> watch(std::in_place, fd, within, stop);
  Opened opened;
  const auto cards = open_cards(plan, opened);
  if (!cards) {
    send_message(fd, Ended{cards.error().describe()});
    return 1;
  }
  send_message(fd, opened);
  run_plan(plan, *cards, [fd](const Message& told) { send_message(fd, told); }, stop);
  watch.reset();
  send_message(fd, Ended{stop ? "asked to stop" : ""});
  return 0;
}

}  // namespace stoker::diag
