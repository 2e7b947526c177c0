// For tests that ask a running agent over HTTP.
#pragma once

#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "net/http_client.h"

namespace stoker::test {

/// The body of the answer, or why there is none.
inline std::string get(const std::string& url) {
  const auto answer = net::http_get(url);
  return answer ? answer->body : answer.error().describe();
}

/// Asks again for half a minute at most until `wanted` is in the answer; the last answer.
inline std::string get_until(const std::string& url, const std::string& wanted) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::string answer = get(url);
  while (answer.find(wanted) == std::string::npos && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    answer = get(url);
  }
  return answer;
}

/// This machine's name, as an agent tells it.
inline std::string hostname() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace stoker::test
