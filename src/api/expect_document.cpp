// Edge: /api/v1/expect: what this node was said to have, against what is there.
#include "api/expect_document.h"

#include "base/json_text.h"

namespace stoker::api {

std::string expect_document(const std::vector<health::Comparison>& comparisons) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/expectation");
  json.key("expectations").begin_array();
  for (const health::Comparison& made : comparisons) {
    json.begin_object().member("key", made.key).member("match", health::to_string(made.match));
    json.member("expected", made.expected);
    if (made.seen) {
      json.member("seen", *made.seen);
    } else {
      json.key("seen").null().member("seen_reason", made.mixed     ? "mixed"
                                                    : made.untold  ? "not_supported"
                                                    : made.pending ? "pending"
                                                                   : "failed");
    }
    json.key("details").begin_array();
    for (const std::string& detail : made.details) json.value(detail);
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.text();
}

}  // namespace stoker::api
