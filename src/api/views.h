// Edge: the API's documents for people: what the command line prints. Text in, text out.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/render.h"

namespace stoker::api {

// Any document as itself: json (indented, one object), yaml (the same), jsonl (one line for each item
// of its list, or for the whole where it has none). corrupt if `document` is not JSON of ours.
enum class DataFormat : std::uint8_t { json, yaml, jsonl };
Result<std::string> format_document(const std::string& document, DataFormat format);

struct StatusView {
  std::string text;
  bool healthy = false;  // the verdict is ok
};
// Of a status document and the gpus document of the same agent. `verbose` adds how the driver is read.
Result<StatusView> view_status(const std::string& status, const std::string& gpus,
                               const TableStyle& style, bool verbose = false);

// Of a gpus document: a table of one row a GPU; with who has it where anybody is known to.
Result<std::string> view_gpus(const std::string& gpus);
// The same as lines that follow one another, the time in front.
Result<std::string> view_gpus_now(const std::string& gpus, bool with_titles);

// Of a fields document.
Result<std::string> view_fields(const std::string& fields);

// What an error document says; the text itself if it is none.
std::string error_message(const std::string& document);

}  // namespace stoker::api
