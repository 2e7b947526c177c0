// A connection whose response goes on (EventStream): the part of HttpSession that sends it.
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/write.hpp>
#include <sstream>

#include "net/http_session.h"

namespace stoker::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::size_t peer_chunk = 4096;  // of what a peer says while it should listen

std::string header_of(const Response& response) {
  http::response_header<> header;
  header.version(11);
  header.result(static_cast<unsigned>(response.status));
  header.set(http::field::server, "stoker");
  header.set(http::field::content_type, response.content_type);
  header.set(http::field::cache_control, "no-store");
  // Its end is the connection's (RFC 9112 section 6.3, rule 8).
  header.set(http::field::connection, "close");
  for (const auto& [name, value] : response.headers) header.set(name, value);
  std::ostringstream text;
  text << header;
  return text.str();
}

}  // namespace

void HttpSession::start_stream(const Response& response) {
  events_ = response.stream;
  shared_.streams.insert(events_.get());
  // A read that never ends says when the peer has gone; only what is sent has a time limit.
  stream_.expires_never();
  watch_peer();
  sending_ = header_of(response);
  events_->attach([weak = weak_from_this(), executor = stream_.get_executor()] {
    asio::post(executor, [weak] {
      if (const auto self = weak.lock()) self->pump();
    });
  });
  asio::async_write(stream_, asio::buffer(sending_),
                    [self = shared_from_this()](beast::error_code error, std::size_t) {
                      self->sending_.clear();
                      if (!error) self->pump();
                    });
}

void HttpSession::watch_peer() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(peer_chunk),
                          [self = shared_from_this()](beast::error_code error, std::size_t) {
                            if (error) return self->leave_stream();
                            self->watch_peer();
                          });
}

void HttpSession::pump() {
  if (!events_ || !sending_.empty()) return;
  const auto state = events_->state();
  sending_ = events_->take();
  if (state == EventStream::State::let_go ||
      (sending_.empty() && state != EventStream::State::open)) {
    return leave_stream();
  }
  if (sending_.empty()) return comment_later();
  comment_.cancel();
  stream_.expires_after(shared_.options.request_timeout);
  asio::async_write(stream_, asio::buffer(sending_),
                    [self = shared_from_this()](beast::error_code error, std::size_t) {
                      self->sending_.clear();
                      if (error) return self->leave_stream();
                      self->pump();
                    });
}

void HttpSession::comment_later() {
  comment_.expires_after(shared_.options.comment_every);
  comment_.async_wait([weak = weak_from_this()](beast::error_code error) {
    const auto self = weak.lock();
    if (error || !self || !self->events_) return;
    self->events_->write(": nothing new\n\n");
  });
}

void HttpSession::leave_stream() {
  if (!events_) return;
  shared_.streams.erase(events_.get());
  events_->detach();
  events_.reset();
  comment_.cancel();
  stream_.close();
}

}  // namespace stoker::net
