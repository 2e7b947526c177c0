#include "notify/outbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/log.h"
#include "base/text.h"
#include "model/wrap.h"
#include "notify/message.h"

namespace stoker::notify {
namespace {

constexpr Seconds first_wait{1};
constexpr Seconds longest_wait{300};
constexpr Seconds nothing_due{3600};

// Does it hold, for somebody who hears of what holds and no more?
bool holds(const Incident& incident) {
  return !is_over(incident) && incident.state != IncidentState::suppressed;
}

Nanoseconds wait_after(unsigned failures) {
  constexpr unsigned most_doublings = 9;
  return std::min<Nanoseconds>(first_wait * (1 << std::min(failures - 1, most_doublings)),
                               longest_wait);
}

// The file's text, without the blanks and line ends around it.
Result<std::string> token_of(const std::string& file) {
  std::ifstream in(file);
  std::string token{std::istreambuf_iterator<char>(in), {}};
  token = trimmed(token, " \t\r\n");
  if (!in || token.empty()) {
    return fail(ErrorCode::not_found, fmt::format("no token can be read from {}", file));
  }
  return token;
}

// 4xx says that the message will never be taken, but for these two: RFC 9110, RFC 6585.
bool is_for_good(int status) {
  constexpr int timed_out = 408;
  constexpr int too_many = 429;
  return status >= 400 && status < 500 && status != timed_out && status != too_many;
}

net::ClientRequest to_target(const Target& target, std::string body, const std::string& key) {
  net::ClientRequest request{.method = "POST", .url = target.url, .body = std::move(body)};
  if (target.kind == TargetKind::alertmanager) {
    while (request.url.ends_with('/')) request.url.pop_back();
    request.url += "/api/v2/alerts";
  }
  request.headers.emplace_back("Idempotency-Key", key);
  return request;
}

}  // namespace

net::ClientRequest trial_message(const Target& target, const std::string& node, WallTime now) {
  Incident trial;
  trial.cause = "trial";
  trial.severity = Severity::info;
  trial.entity = {EntityKind::node, node};
  trial.about = "Node " + node;
  trial.message = "A trial: somebody asked whether Stoker's messages arrive. Nothing is wrong.";
  trial.opened_at = trial.updated_at = now;
  trial.told = telling_of(trial);
  const WallTime soon{now.since_epoch + Seconds(60)};
  return to_target(target,
                   target.kind == TargetKind::webhook ? webhook_body(trial, node)
                                                      : alert_body(trial, node, soon),
                   key_of(trial, node));
}

Result<void> authorize(net::ClientRequest& request, const Target& target) {
  if (target.token_file.empty()) return {};
  const auto token = token_of(target.token_file);
  if (!token) return fail(token.error());
  request.headers.emplace_back("Authorization", "Bearer " + *token);
  return {};
}

std::optional<std::string> refusal(const Result<net::ClientResponse>& answer) {
  if (!answer) return answer.error().describe();
  if (answer->status >= 200 && answer->status < 300) return std::nullopt;
  constexpr std::size_t enough = 200;
  return fmt::format("it answered {}: {}", answer->status,
                     printable(answer->body.substr(0, enough)));
}

Outbox::Outbox(OutboxParts parts) : parts_(std::move(parts)) {}

Outbox::~Outbox() { stop(); }

void Outbox::restore(const std::vector<Incident>& incidents, const std::vector<SentMark>& sent,
                     std::uint64_t after) {
  const MutexLock lock(mutex_);
  for (const auto& one : sent) {
    if (one.target == parts_.target.name) sent_[one.incident] = one.revision;
  }
  for (const Incident& incident : incidents) {
    const auto known = sent_.find(incident.id);
    if (known == sent_.end() && is_over(incident) && incident.id <= after) continue;
    if (known == sent_.end() || known->second < incident.revision) {
      add(incident);
    } else if (!is_over(incident) && parts_.target.kind == TargetKind::alertmanager) {
      alerts_[incident.id] = {incident, {}};
    }
  }
}

void Outbox::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto wait = send_due();
      const MutexLock lock(mutex_);
      const auto told = [this]() REQUIRES(mutex_) { return woken_; };
      if (wait > Nanoseconds{0}) more_.wait_for(mutex_, stop, wait, told);
      woken_ = false;
    }
  });
}

void Outbox::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Outbox::add(const Incident& incident) {
  if (incident.severity < parts_.least && !sent_.contains(incident.id)) return;
  if (!waiting_.contains(incident.id) && waiting_.size() >= most_waiting) {
    waiting_.erase(waiting_.begin());
    ++dropped_;
  }
  waiting_.insert_or_assign(incident.id, incident);
}

void Outbox::tell(const std::vector<Incident>& changed) {
  const MutexLock lock(mutex_);
  for (const Incident& incident : changed) {
    const auto known = sent_.find(incident.id);
    // Its evidence alone has changed.
    if (known != sent_.end() && known->second >= incident.revision) continue;
    const auto refused = refused_.find(incident.id);
    if (refused != refused_.end() && refused->second >= incident.revision) continue;
    add(incident);
  }
  if (waiting_.empty()) return;
  woken_ = true;
  more_.notify_one();
}

std::optional<Incident> Outbox::next_due() {
  if (!waiting_.empty()) return waiting_.begin()->second;
  const MonotonicTime now = parts_.clock.monotonic();
  for (const auto& [id, alert] : alerts_) {
    if (now - alert.sent_at >= repeat_every || alert.sent_at == MonotonicTime{}) {
      return alert.incident;
    }
  }
  return std::nullopt;
}

net::ClientRequest Outbox::message_of(const Incident& incident) const {
  const auto key = key_of(incident, parts_.node);
  if (parts_.target.kind == TargetKind::webhook) {
    return to_target(parts_.target, webhook_body(incident, parts_.node), key);
  }
  const WallTime now = parts_.clock.wall();
  const WallTime ends = holds(incident) ? WallTime{now.since_epoch + holds_for} : now;
  return to_target(parts_.target, alert_body(incident, parts_.node, ends), key);
}

Result<net::ClientResponse> Outbox::deliver(const Incident& incident) {
  auto request = message_of(incident);
  if (const auto ready = authorize(request, parts_.target); !ready) return fail(ready.error());
  return parts_.send(request);
}

Nanoseconds Outbox::send_due() {
  std::optional<Incident> due;
  {
    const MutexLock lock(mutex_);
    const auto wait = next_try_ - parts_.clock.monotonic();
    if (failures_ > 0 && wait > Nanoseconds{0}) return wait;
    due = next_due();
    if (!due) return alerts_.empty() ? Nanoseconds(nothing_due) : Nanoseconds(first_wait);
  }
  const auto answer = deliver(*due);
  if (const auto why = refusal(answer)) {
    was_refused(*due, *why, answer && is_for_good(answer->status));
  } else {
    was_taken(*due);
  }
  return Nanoseconds{0};
}

void Outbox::was_taken(const Incident& incident) {
  bool repeated = false;
  {
    const MutexLock lock(mutex_);
    failures_ = 0;
    why_.clear();
    const auto at = waiting_.find(incident.id);
    if (at != waiting_.end() && at->second.revision == incident.revision) waiting_.erase(at);
    std::uint64_t& sent = sent_[incident.id];
    repeated = sent >= incident.revision;
    sent = std::max(sent, incident.revision);
    if (parts_.target.kind == TargetKind::alertmanager && holds(incident)) {
      alerts_[incident.id] = {incident, parts_.clock.monotonic()};
    } else {
      alerts_.erase(incident.id);
    }
  }
  if (!repeated) parts_.on_sent({parts_.target.name, incident.id, incident.revision});
}

void Outbox::was_refused(const Incident& incident, std::string why, bool for_good) {
  const MutexLock lock(mutex_);
  ++failures_;
  next_try_ = parts_.clock.monotonic() + wait_after(failures_);
  if (failures_ == 1) {
    log::warning("not_notified", {{"target", parts_.target.name}, {"reason", why}});
  }
  why_ = std::move(why);
  if (!for_good) return;
  // It would be refused again for ever, and hold up those behind it.
  const auto at = waiting_.find(incident.id);
  if (at != waiting_.end() && at->second.revision == incident.revision) waiting_.erase(at);
  alerts_.erase(incident.id);
  refused_[incident.id] = incident.revision;
  ++dropped_;
}

std::optional<Finding> Outbox::problem() const {
  const MutexLock lock(mutex_);
  if (failures_ == 0) return std::nullopt;
  Finding finding;
  finding.rule = "notify-failing";
  finding.severity = Severity::warning;
  finding.entity = {EntityKind::file, net::without_secrets(parts_.target.url)};
  finding.message = fmt::format("The {} takes no messages; {} wait for it, {} were dropped",
                                parts_.target.name, waiting_.size(), dropped_);
  finding.action = Action::fix_config;
  finding.fix = "See the evidence; `stoker notify` tries it";
  finding.source = "docs/specs/notify.md";
  finding.evidence.push_back(why_);
  return finding;
}

}  // namespace stoker::notify
