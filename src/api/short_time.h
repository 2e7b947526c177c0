// Edge: a document's time for people.
#pragma once

#include <string>

namespace stoker::api {

// "2026-11-28 18:01:02": without what nobody reads.
inline std::string short_time(const std::string& time) {
  constexpr std::size_t seconds = 19;
  std::string text = time.substr(0, seconds);
  if (text.size() == seconds) text[10] = ' ';
  return text;
}

}  // namespace stoker::api
