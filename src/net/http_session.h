// Edge: one connection of the HTTP server. Internal to src/net.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "net/http_server.h"

namespace stoker::net {

// What all connections of one server share; only its thread touches it.
struct ServerShared {
  ServerOptions options;
  Handler handler;
  // Of the TCP door and of the local one, so that no crowd from afar keeps the node's own people out.
  std::size_t connections = 0;
  std::size_t local_connections = 0;
  std::set<EventStream*> streams;  // that wake a connection
};

// Reads a request, answers it, and so on until the peer leaves, asks to close, breaks the protocol
// or lets a time pass. Lives as long as an operation of it is pending.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  using Protocol = boost::asio::generic::stream_protocol;  // TCP, or a Unix socket

  // `local`: who is at the other end of a Unix socket. `connections`: of this one's door, in `shared`.
  HttpSession(Protocol::socket socket, std::optional<std::uint32_t> local, ServerShared& shared,
              std::size_t& connections);
  ~HttpSession();
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void run() { read_request(); }

 private:
  using HttpResponse = boost::beast::http::response<boost::beast::http::string_body>;

  void read_request();
  void read_more();
  void on_read(boost::beast::error_code error);
  void on_read_failed(boost::beast::error_code error);
  void answer();
  void refuse(int status, std::string_view text);
  void send(Response response, bool with_body, bool may_compress, bool keep_alive);
  // Of a response that goes on: everything below runs until the peer has gone or the stream has ended.
  void start_stream(const Response& response);
  void watch_peer();
  void pump();
  void comment_later();
  void leave_stream();
  void on_sent(boost::beast::error_code error);
  void linger();

  // Constant after construction.
  ServerShared& shared_;
  std::size_t& connections_;
  const std::optional<std::uint32_t> local_;
  const bool crowded_;  // one connection too many: answered 503

  // Touched by the server's thread alone.
  boost::beast::basic_stream<Protocol> stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  HttpResponse response_;
  std::shared_ptr<EventStream> events_;  // nullptr: the response is whole
  std::string sending_;                  // of events_; empty: nothing is being sent
  boost::asio::steady_timer comment_;
  bool first_request_ = true;
  bool got_bytes_ = false;
};

}  // namespace stoker::net
