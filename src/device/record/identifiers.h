// Device stage: made-up names in place of those that tell whose cards these are: UUIDs, serials, the host.
// The same one always gets the same name, so everything still belongs together.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "device/record/event.h"

namespace stoker::device::record {

class Identifiers {
 public:
  // In what says an identifier by itself, and in texts for people.
  void replace(What& what);

 private:
  struct Visit;

  std::string uuid(std::string_view real);
  void serial(std::string& text);
  void text(std::string& text);

  std::string hostname_;
  std::map<std::string, std::string, std::less<>> uuids_;
  std::map<std::string, std::string, std::less<>> serials_;
};

}  // namespace stoker::device::record
