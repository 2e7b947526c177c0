// Ground stage: the one renderer of findings. A sick GPU, a lint finding and a wrong line in a config
// file read alike, on a terminal, as JSON and as SARIF. Pure: findings in, text out.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json_text.h"
#include "model/finding.h"

namespace stoker {

struct TableStyle {
  std::size_t width = 80;  // columns; only words that are longer go beyond
  bool colour = false;     // ANSI colours; for a terminal alone
};

// For people: a block a finding, in the order given. Empty for no findings.
std::string render_table(std::span<const Finding> findings, const TableStyle& style = {});

// {"schema":"stoker.dev/v1/finding","findings":[...]}
std::string render_json(std::span<const Finding> findings);
// One finding as an object with the keys of docs/specs/contracts.md; what does not apply is null. Its entity
// is one word, "<kind>:<id>".
void write_finding(JsonWriter& json, const Finding& finding);

// SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html), one run.
std::string render_sarif(std::span<const Finding> findings, std::string_view stoker_version);

// "gpu:GPU-8f1e..", as in JSON.
std::string entity_word(const Entity& entity);

}  // namespace stoker
