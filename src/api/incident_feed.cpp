#include "api/incident_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/incidents_document.h"

namespace stoker::api {
namespace {

std::string id_of(const Incident& incident) {
  return fmt::format("{}-{}", incident.id, incident.revision);
}

std::string feed_text(const Incident& incident) {
  return net::event_text("incident", id_of(incident), incidents_document({incident}, {}));
}

}  // namespace

IncidentFeed::~IncidentFeed() {
  const MutexLock lock(mutex_);
  for (const auto& listener : listeners_) listener->end();
}

void IncidentFeed::begin() {
  const MutexLock lock(mutex_);
  for (const Incident& incident : kept_()) revisions_[incident.id] = incident.revision;
}

void IncidentFeed::tell(const std::vector<Incident>& changed) {
  const MutexLock lock(mutex_);
  for (const Incident& incident : changed) {
    std::uint64_t& told = revisions_[incident.id];
    // One more line of it.
    if (told >= incident.revision) continue;
    told = incident.revision;
    Told event{id_of(incident), feed_text(incident)};
    std::erase_if(listeners_, [&](const auto& listener) { return !listener->write(event.text); });
    keep(std::move(event));
  }
  // Of those that are gone by now nothing will be told.
  constexpr std::size_t most_known = 2048;
  while (revisions_.size() > most_known) revisions_.erase(revisions_.begin());
}

void IncidentFeed::keep(Told told) {
  last_bytes_ += told.text.size();
  last_.push_back(std::move(told));
  while (last_.size() > kept_events || last_bytes_ > kept_bytes) {
    last_bytes_ -= last_.front().text.size();
    last_.pop_front();
  }
}

std::string IncidentFeed::anew() const {
  std::string text = net::event_text("anew", "", "{}");
  for (const Incident& incident : kept_()) {
    // What is not told yet comes with tell(), in a moment.
    const auto told = revisions_.find(incident.id);
    if (is_over(incident) || told == revisions_.end() || told->second != incident.revision)
      continue;
    text += feed_text(incident);
  }
  return text;
}

std::string IncidentFeed::missed_since(const std::string& last_id) const {
  const auto known = std::ranges::find(last_, last_id, &Told::id);
  if (known == last_.end()) return anew();
  std::string text;
  for (auto at = std::next(known); at != last_.end(); ++at) text += at->text;
  return text;
}

Result<std::shared_ptr<net::EventStream>> IncidentFeed::listen(const std::string& last_id) {
  const MutexLock lock(mutex_);
  std::erase_if(listeners_, [](const auto& listener) {
    return listener->state() != net::EventStream::State::open;
  });
  if (listeners_.size() >= most_listeners) {
    return fail(ErrorCode::unavailable,
                fmt::format("{} listen already, and no more may: end one of them, or ask "
                            "/api/v1/incidents now and then",
                            most_listeners));
  }
  auto stream = std::make_shared<net::EventStream>();
  stream->write(missed_since(last_id));
  listeners_.push_back(stream);
  return stream;
}

}  // namespace stoker::api
