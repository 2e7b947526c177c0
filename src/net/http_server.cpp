#include "net/http_server.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <list>
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

// Nobody else can open it from the first moment on: the file gets its name when its mode is right.
Result<UniqueFd> listen_on_file(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string fresh = path + ".new";
  if (fresh.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::invalid_input,
                fmt::format("{} is too long for a Unix socket: at most {} bytes", path,
                            sizeof address.sun_path - 1 - 4));
  }
  std::memcpy(address.sun_path, fresh.c_str(), fresh.size() + 1);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return fail(Error::from_errno(errno, "socket"));
  ::unlink(fresh.c_str());
  if (::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(fresh.c_str(), S_IRUSR | S_IWUSR) != 0 || ::listen(fd.get(), SOMAXCONN) != 0 ||
      ::rename(fresh.c_str(), path.c_str()) != 0) {
    return fail(Error::from_errno(errno, "listen on " + path));
  }
  return fd;
}

std::optional<std::uint32_t> peer_of(int fd) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return std::nullopt;
  return who.uid;
}

// One address that is listened on.
struct Door {
  Door(asio::io_context& context, HttpSession::Protocol of, bool is_local)
      : fd(context), pause(context), protocol(of), local(is_local) {}
  asio::posix::stream_descriptor fd;
  asio::steady_timer pause;
  HttpSession::Protocol protocol;
  bool local;
  bool paused = false;  // nothing was accepted since the last pause
};

class AsioServer final : public HttpServer {
 public:
  explicit AsioServer(ServerOptions options)
      : shared_{.options = std::move(options), .handler = {}, .streams = {}} {}
  AsioServer(const AsioServer&) = delete;
  AsioServer& operator=(const AsioServer&) = delete;

  ~AsioServer() override {
    context_.stop();
    if (thread_.joinable()) thread_.join();
    // Others may write on; nothing that wakes this server may outlive it.
    for (EventStream* stream : shared_.streams) stream->detach();
    if (!file_.empty()) ::unlink(file_.c_str());
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
    tcp::endpoint bound;
    auto size = static_cast<socklen_t>(bound.capacity());
    if (::getsockname(fd->get(), bound.data(), &size) != 0) {
      return fail(Error::from_errno(errno, "getsockname"));
    }
    address_ = format_host_port({bound.address().to_string(), bound.port()});
    return add_door(std::move(*fd), bound.protocol(), false);
  }

  Result<void> also_listen_on(const std::string& path) override {
    auto fd = listen_on_file(path);
    if (!fd) return fail(fd.error());
    file_ = path;
    return add_door(std::move(*fd), {AF_UNIX, 0}, true);
  }

  void serve(Handler handler) override {
    shared_.handler = std::move(handler);
    for (Door& door : doors_) accept_when_ready(door);
    thread_ = std::jthread([this] { context_.run(); });
  }

  [[nodiscard]] std::string address() const override { return address_; }

 private:
  Result<void> add_door(UniqueFd fd, HttpSession::Protocol protocol, bool local) {
    boost::system::error_code error;
    Door& door = doors_.emplace_back(context_, protocol, local);
    door.fd.assign(fd.get(), error);
    if (error) return fail(ErrorCode::io, "listen: " + error.message());
    static_cast<void>(fd.release());  // the door owns it now
    return {};
  }

  void accept_when_ready(Door& door) {
    door.fd.async_wait(asio::posix::stream_descriptor::wait_read,
                       [this, &door](boost::system::error_code error) {
                         if (!error) accept_all(door);
                       });
  }

  void accept_all(Door& door) {
    for (;;) {
      UniqueFd fd(
          ::accept4(door.fd.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd.valid()) {
        door.paused = false;
        take(door, std::move(fd));
      } else if (errno == EAGAIN) {
        return accept_when_ready(door);
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        tell_paused(door, errno);
        return accept_after_pause(door);
      }
      // Anything else concerns the one connection that was to be accepted (accept(2), "Error handling").
    }
  }

  // Once, however many pauses it takes.
  static void tell_paused(Door& door, int error) {
    if (std::exchange(door.paused, true)) return;
    log::warning("http_accept_paused", {{"why", Error::from_errno(error, "accept").message()}});
  }

  void accept_after_pause(Door& door) {
    door.pause.expires_after(accept_pause);
    door.pause.async_wait([this, &door](boost::system::error_code error) {
      if (!error) accept_when_ready(door);
    });
  }

  void take(const Door& door, UniqueFd fd) {
    std::size_t& connections = door.local ? shared_.local_connections : shared_.connections;
    if (connections >= shared_.options.max_connections + told_crowded) return;
    boost::system::error_code error;
    HttpSession::Protocol::socket socket(context_);
    socket.assign(door.protocol, fd.get(), error);
    if (error) return;
    const auto local = door.local ? peer_of(fd.get()) : std::nullopt;
    static_cast<void>(fd.release());  // the socket owns it now
    if (!door.local) socket.set_option(tcp::no_delay(true), error);
    std::make_shared<HttpSession>(std::move(socket), local, shared_, connections)->run();
  }

  // Constant after open().
  std::string address_;
  std::string file_;  // empty: there is no second door

  // Touched by the server's thread alone once it runs. Sessions that still wait are destroyed with
  // the context, so what they use stands before it.
  ServerShared shared_;
  asio::io_context context_{1};
  std::list<Door> doors_;
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::bind(ServerOptions options) {
  auto server = std::make_unique<AsioServer>(std::move(options));
  if (auto opened = server->open(); !opened) return fail(opened.error());
  return server;
}

}  // namespace stoker::net
