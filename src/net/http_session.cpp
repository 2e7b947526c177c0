#include "net/http_session.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <ctime>
#include <exception>

#include "base/log.h"
#include "net/gzip.h"
#include "net/percent.h"

namespace stoker::net {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

// Smaller bodies gain nothing: the headers and the stream's own frame outweigh it.
constexpr std::size_t least_worth_compressing = 1024;

// After the last response of a connection, for what the peer is still sending.
constexpr std::chrono::milliseconds linger_time{1000};
constexpr std::size_t linger_chunk = 16 << 10;

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

// RFC 9110 section 5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date() {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(std::time(nullptr)));
}

// The path and query of a request target; the absolute form "http://host/path" is for proxies, but
// servers have to take it too (RFC 9112 section 3.2.2).
Result<Request> to_request(const http::request<http::string_body>& message) {
  std::string_view target = view(message.target());
  if (target.starts_with("http://")) {
    const auto slash = target.find('/', 7);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  const auto question = target.find('?');
  auto path = percent_decode(target.substr(0, question));
  if (!path) return fail(path.error());
  Request request;
  request.method = message.method() == http::verb::head ? "GET" : view(message.method_string());
  request.path = std::move(*path);
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
  request.accept = view(message[http::field::accept]);
  request.last_event_id = view(message["Last-Event-ID"]);
  request.body = message.body();
  return request;
}

Response call_handler(const Handler& handler, const Request& request) {
  try {
    return handler(request);
  } catch (const std::exception& problem) {  // std::bad_alloc and the like
    log::error("http_handler_failed", {{"path", request.path}, {"what", problem.what()}});
    return Response{.status = 500, .body = "the server could not answer; its log says why\n"};
  }
}

}  // namespace

HttpSession::HttpSession(Protocol::socket socket, std::optional<std::uint32_t> local,
                         ServerShared& shared, std::size_t& connections)
    : shared_(shared),
      connections_(connections),
      local_(local),
      crowded_(connections >= shared.options.max_connections),
      stream_(std::move(socket)),
      comment_(stream_.get_executor()) {
  ++connections_;
}

HttpSession::~HttpSession() {
  leave_stream();
  --connections_;
}

void HttpSession::read_request() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(shared_.options.max_header_bytes));
  parser_->body_limit(shared_.options.max_body_bytes);
  // A pipelined request may already be here; then its time runs from now.
  got_bytes_ = buffer_.size() > 0;
  const bool idle = !first_request_ && !got_bytes_;
  stream_.expires_after(idle ? shared_.options.idle_timeout : shared_.options.request_timeout);
  read_more();
}

void HttpSession::read_more() {
  http::async_read_some(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](beast::error_code error, std::size_t) { self->on_read(error); });
}

void HttpSession::on_read(beast::error_code error) {
  if (error && error != http::error::need_more) return on_read_failed(error);
  if (parser_->is_done()) return answer();
  if (!got_bytes_) {
    // The first bytes after a pause: from here the whole request has its own deadline, which further
    // bytes don't move, however slowly they drip in.
    got_bytes_ = true;
    if (!first_request_) stream_.expires_after(shared_.options.request_timeout);
  }
  read_more();
}

void HttpSession::on_read_failed(beast::error_code error) {
  if (error == http::error::header_limit) {
    return refuse(431, "the request's headers are too large\n");
  }
  if (error == http::error::body_limit) return refuse(413, "the request's body is too large\n");
  // A connection that goes away, or lets its time pass, is no fault of anybody; beast has closed it.
  const bool protocol_broken =
      error.category() == make_error_code(http::error::bad_line_ending).category() &&
      error != http::error::end_of_stream && error != http::error::partial_message;
  if (!protocol_broken) return;
  refuse(400, fmt::format("not a request that this server understands: {}\n", error.message()));
}

void HttpSession::answer() {
  const auto& message = parser_->get();
  auto request = to_request(message);
  const auto& always = shared_.options.always;
  if (crowded_ && (!request || std::ranges::find(always, request->path) == always.end())) {
    return refuse(503, "too many connections; try again later\n");
  }
  if (!request) return refuse(400, request.error().message() + "\n");
  request->local_user = local_;
  auto response = call_handler(shared_.handler, *request);
  if (response.stream && message.method() != http::verb::head) return start_stream(response);
  if (response.stream) response.stream->end();
  send(std::move(response), message.method() != http::verb::head,
       accepts_gzip(view(message[http::field::accept_encoding])),
       message.keep_alive() && !crowded_);
}

void HttpSession::refuse(int status, std::string_view text) {
  send(Response{.status = status, .body = std::string(text)}, true, false, false);
}

void HttpSession::send(Response response, bool with_body, bool may_compress, bool keep_alive) {
  response_ = HttpResponse();
  response_.version(11);
  response_.result(static_cast<unsigned>(response.status));
  response_.set(http::field::server, "stoker");
  response_.set(http::field::date, http_date());
  response_.set(http::field::content_type, response.content_type);
  response_.set(http::field::cache_control, "no-store");
  response_.set(http::field::vary, "Accept-Encoding");
  for (const auto& [name, value] : response.headers) response_.set(name, value);
  if (may_compress && response.body.size() >= least_worth_compressing) {
    if (auto packed = gzip(response.body)) {
      response.body = std::move(*packed);
      response_.set(http::field::content_encoding, "gzip");
    }
  }
  response_.content_length(response.body.size());
  if (with_body) response_.body() = std::move(response.body);
  response_.keep_alive(keep_alive);
  stream_.expires_after(shared_.options.request_timeout);
  http::async_write(
      stream_, response_,
      [self = shared_from_this()](beast::error_code error, std::size_t) { self->on_sent(error); });
}

void HttpSession::on_sent(beast::error_code error) {
  first_request_ = false;
  if (error) return;
  if (response_.keep_alive()) return read_request();
  beast::error_code ignored;
  stream_.socket().shutdown(Protocol::socket::shutdown_send, ignored);
  stream_.expires_after(linger_time);
  linger();
}

// What a peer still sends after a refusal would be answered by a reset, and that can swallow the
// response on its side. So it is read and dropped, for a short while.
void HttpSession::linger() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(linger_chunk),
                          [self = shared_from_this()](beast::error_code error, std::size_t) {
                            if (!error) self->linger();
                          });
}

}  // namespace stoker::net
