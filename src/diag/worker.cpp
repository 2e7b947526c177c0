#include "diag/worker.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

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

// Sets `stop` when the other end goes away. The thread ends with it, or when it is destroyed.
class EndWatch {
 public:
  EndWatch(int fd, std::atomic<bool>& stop)
      : thread_([fd, &stop, this] {
          std::array<pollfd, 2> waiting = {{{fd, POLLIN, 0}, {waker_.fd(), POLLIN, 0}}};
          while (::poll(waiting.data(), waiting.size(), -1) < 0 && errno == EINTR) {
          }
          if (waiting[0].revents != 0) stop = true;
        }) {}
  ~EndWatch() { waker_.wake(); }
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;

 private:
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
  Opened opened;
  const auto cards = open_cards(plan, opened);
  if (!cards) {
    send_message(fd, Ended{cards.error().describe()});
    return 1;
  }
  send_message(fd, opened);
  std::atomic<bool> stop = false;
  {
    const EndWatch watch(fd, stop);
    run_plan(plan, *cards, [fd](const Message& told) { send_message(fd, told); }, stop);
  }
  send_message(fd, Ended{stop ? "asked to stop" : ""});
  return 0;
}

}  // namespace stoker::diag
