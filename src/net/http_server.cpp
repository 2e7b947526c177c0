#include "net/http_server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/host_port.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "net/http_session.h"

namespace stoker::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Connections past the limit that are still told 503; past these they are closed at once.
constexpr std::size_t told_crowded = 32;
// Before accept is tried again when the process has no descriptor left.
constexpr std::chrono::milliseconds accept_pause{100};

Error bind_error(int number, const std::string& listen) {
  if (number == EADDRINUSE) {
    return Error(
        ErrorCode::unavailable,
        fmt::format("{} is already in use: another stoker or exporter listens there; stop it "
                    "or choose another address with --listen HOST:PORT",
                    listen));
  }
  if (number == EADDRNOTAVAIL) {
    return Error(
        ErrorCode::invalid_input,
        fmt::format("{} is not an address of this machine; choose one with --listen HOST:PORT",
                    listen));
  }
  return Error::from_errno(number, fmt::format("listen on {}", listen));
}

// Descriptors are close-on-exec from birth, which Asio's own are not: a probe may be started at any
// moment by another thread.
Result<UniqueFd> listen_on(const tcp::endpoint& endpoint, const std::string& text) {
  UniqueFd fd(
      ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return fail(bind_error(errno, text));
  const int on = 1;
  const int off = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (endpoint.protocol() == tcp::v6()) {  // "::" serves IPv4 as well
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  if (::bind(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0) {
    return fail(bind_error(errno, text));
  }
  return fd;
}

class AsioServer final : public HttpServer {
 public:
  explicit AsioServer(ServerOptions options)
      : shared_{std::move(options), {}}, acceptor_(context_), pause_(context_) {}
  AsioServer(const AsioServer&) = delete;
  AsioServer& operator=(const AsioServer&) = delete;

  ~AsioServer() override {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  Result<void> open() {
    const auto wanted = parse_host_port(shared_.options.listen);
    if (!wanted) return fail(wanted.error());
    boost::system::error_code error;
    tcp::resolver resolver(context_);
    const auto found =
        resolver.resolve(wanted->host, std::to_string(wanted->port), tcp::resolver::passive, error);
    if (error || found.empty()) {
      return fail(ErrorCode::invalid_input, fmt::format("the host of {} is not known: {}",
                                                        shared_.options.listen, error.message()));
    }
    const tcp::endpoint endpoint = found.begin()->endpoint();
    auto fd = listen_on(endpoint, shared_.options.listen);
    if (!fd && wanted->host == "::") {  // a kernel without IPv6
      fd = listen_on(tcp::endpoint(tcp::v4(), wanted->port), shared_.options.listen);
    }
    if (!fd) return fail(fd.error());
    return adopt(std::move(*fd));
  }

  void serve(Handler handler) override {
    shared_.handler = std::move(handler);
    accept_when_ready();
    thread_ = std::jthread([this] { context_.run(); });
  }

  [[nodiscard]] std::string address() const override { return address_; }

 private:
  Result<void> adopt(UniqueFd fd) {
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
      return fail(Error::from_errno(errno, "getsockname"));
    }
    const auto protocol = bound.ss_family == AF_INET6 ? tcp::v6() : tcp::v4();
    boost::system::error_code error;
    acceptor_.assign(protocol, fd.get(), error);
    if (error) return fail(ErrorCode::io, "listen: " + error.message());
    static_cast<void>(fd.release());  // the acceptor owns it now
    const tcp::endpoint local = acceptor_.local_endpoint(error);
    address_ = format_host_port({local.address().to_string(), local.port()});
    protocol_ = protocol;
    return {};
  }

  void accept_when_ready() {
    acceptor_.async_wait(tcp::acceptor::wait_read, [this](boost::system::error_code error) {
      if (!error) accept_all();
    });
  }

  void accept_all() {
    for (;;) {
      UniqueFd fd(
          ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd.valid()) {
        paused_ = false;
        take(std::move(fd));
      } else if (errno == EAGAIN) {
        return accept_when_ready();
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        tell_paused(errno);
        return accept_after_pause();
      }
      // Anything else concerns the one connection that was to be accepted (accept(2), "Error handling").
    }
  }

  // Once, however many pauses it takes.
  void tell_paused(int error) {
    if (std::exchange(paused_, true)) return;
    log::warning("http_accept_paused", {{"why", Error::from_errno(error, "accept").message()}});
  }

  void accept_after_pause() {
    pause_.expires_after(accept_pause);
    pause_.async_wait([this](boost::system::error_code error) {
      if (!error) accept_when_ready();
    });
  }

  void take(UniqueFd fd) {
    if (shared_.connections >= shared_.options.max_connections + told_crowded) return;
    boost::system::error_code error;
    tcp::socket socket(context_);
    socket.assign(protocol_, fd.get(), error);
    if (error) return;
    static_cast<void>(fd.release());  // the socket owns it now
    socket.set_option(tcp::no_delay(true), error);
    std::make_shared<HttpSession>(std::move(socket), shared_)->run();
  }

  // Constant after open().
  std::string address_;
  tcp protocol_ = tcp::v4();

  // Touched by the server's thread alone once it runs. Sessions that still wait are destroyed with
  // the context, so what they use stands before it.
  ServerShared shared_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  bool paused_ = false;  // nothing was accepted since the last pause
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::bind(ServerOptions options) {
  auto server = std::make_unique<AsioServer>(std::move(options));
  if (auto opened = server->open(); !opened) return fail(opened.error());
  return server;
}

}  // namespace stoker::net
