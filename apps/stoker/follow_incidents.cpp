#include "follow_incidents.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "api/incidents_view.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* feed_page = "/api/v1/incidents/events";
constexpr std::chrono::seconds before_asking_again{1};

class Follower {
 public:
  explicit Follower(Output output) : output_(output) {}

  bool take(const net::ServerEvent& event) {
    if (event.name == "anew" && began_) {
      fmt::print(stderr, "stoker: something may have been missed; what is open now:\n");
    }
    began_ = true;
    lost_ = false;
    if (event.name != "incident") return true;
    last_id_ = event.id;
    const bool printed = output_ == Output::table
                             ? print_line(event.data)
                             : print_document(event.data, Output::jsonl) == exit_nothing_wrong;
    return printed && std::fflush(stdout) == 0;
  }
  // Once for each time.
  void lose(const Error& why) {
    if (!lost_) complain(why.message() + "; it is asked again until it answers");
    lost_ = true;
  }

  [[nodiscard]] const std::string& last_id() const { return last_id_; }
  [[nodiscard]] bool began() const { return began_; }

 private:
  static bool print_line(const std::string& document) {
    const auto line = api::view_incident_line(document);
    // What a later agent says and this program can't read is no reason to stop.
    if (!line) return complain(line.error().describe()) == exit_could_not;
    fmt::print("{}", *line);
    return true;
  }

  const Output output_;
  std::string last_id_;
  bool began_ = false;
  bool lost_ = false;
};

}  // namespace

int follow_incidents(const AgentFlags& flags, Output output) {
  Follower follower(output);
  while (true) {
    const auto followed =
        follow_agent(flags, feed_page, follower.last_id(),
                     [&follower](const net::ServerEvent& event) { return follower.take(event); });
    if (followed) return exit_could_not;
    if (!follower.began()) return complain(followed.error().describe());
    follower.lose(followed.error());
    std::this_thread::sleep_for(before_asking_again);
  }
}

}  // namespace stoker::app
