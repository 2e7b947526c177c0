// Edge: a client of one apiserver that reads and never writes. One thread at a time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/kubernetes/api/access.h"

namespace stoker::kubernetes {

struct ClientSettings {
  std::chrono::milliseconds timeout{30'000};         // of one answer
  std::chrono::milliseconds plugin_timeout{60'000};  // of an exec plugin, which may ask a cloud
  std::size_t most_bytes = 64 << 20;                 // of one answer, unpacked
  // A busy server (429, 5xx) is asked again so often, after the time that it asks for, or 0.5 s, 1 s, 2 s, ...
  int tries = 5;
  std::chrono::milliseconds longest_wait{30'000};
  std::function<void(std::chrono::milliseconds)> sleep;  // empty: this_thread::sleep_for
};

struct Answer {
  int status = 0;
  std::string body;
};

class Client {
 public:
  explicit Client(Access access, ClientSettings settings = {});
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  // GET of `path` ("/api/v1/pods?limit=500"). What the server says for good is an answer: 2xx, 403, 404, 410 and other
  // 4xx. no_permission: it does not know us (401), also with a token that was read anew; timeout, unavailable: not there,
  // or busy at every try; corrupt: longer than most_bytes; else what http_send() and run_exec_plugin() say.
  Result<Answer> get(const std::string& path);

  [[nodiscard]] const Access& access() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace stoker::kubernetes
