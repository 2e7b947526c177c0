// Event stage: logs whose lines are records of named fields: JSON objects, and entries of `journalctl -o export`.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace stoker::event {

// Calls `take(key, value)` for each text, number or list of bytes of a JSON object, and goes into no objects within
// it. Reads as far as the text is JSON. The value lives for the call alone.
void each_json_field(std::string_view text,
                     const std::function<void(std::string_view, std::string_view)>& take);

// The same for an entry of the export format: "KEY=VALUE", or KEY, 8 bytes of length, and bytes
// (https://systemd.io/JOURNAL_EXPORT_FORMATS/).
void each_export_field(std::string_view text,
                       const std::function<void(std::string_view, std::string_view)>& take);

}  // namespace stoker::event
