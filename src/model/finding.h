// Ground stage: one judgement with its evidence. A lint finding, an NCCL cause and a sick GPU all
// read alike, and model/render.h prints them alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "model/action.h"
#include "model/entity.h"

namespace stoker {

enum class Severity { info, warning, error, critical };
enum class FindingState { suspect, firing, clear };

const char* to_string(Severity severity);
const char* to_string(FindingState state);
std::optional<Severity> severity_of(std::string_view word);

// Where in a user's file; lines and columns count from 1, 0 means unknown.
struct FileLocation {
  std::string file;
  int line = 0;
  int column = 0;
};

struct Finding {
  std::string rule;  // check or lint id, e.g. "gpu-hung"
  Severity severity = Severity::warning;
  FindingState state = FindingState::firing;
  std::optional<WallTime> since;
  Entity entity;
  std::optional<FileLocation> location;
  std::string field;    // of an object of an API: "spec.containers[0].image"; empty elsewhere
  std::string message;  // what is so, in one sentence
  std::string cause;    // why, as far as known
  std::optional<Action> action;       // what to do, from the fixed vocabulary
  std::string fix;                    // how, in words
  std::string source;                 // URL or document that the judgement rests on
  std::vector<std::string> evidence;  // log lines, readings, field history
};

// A finding with what the row of its rule says: severity, cause, action, fix and source.
template <typename Row>
Finding finding_by(std::string_view rule, const Row& row, Entity entity, std::string message,
                   std::vector<std::string> evidence = {}) {
  Finding finding;
  finding.rule = rule;
  finding.severity = row.severity;
  finding.entity = std::move(entity);
  finding.message = std::move(message);
  finding.cause = row.cause;
  finding.action = row.action;
  finding.fix = row.fix;
  finding.source = row.source;
  finding.evidence = std::move(evidence);
  return finding;
}

}  // namespace stoker
