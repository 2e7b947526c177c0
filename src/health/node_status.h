// Health stage: what is wrong with this node, purely from a Snapshot. No clock, no I/O: the same
// snapshot always gives the same findings.
#pragma once

#include <string>
#include <vector>

#include "health/expected.h"
#include "model/finding.h"
#include "store/snapshot.h"

namespace stoker::health {

// Findings of the snapshot, worst first, then by rule and entity. Their texts, actions and sources
// stand in health/rules.def. `checked`: what checks found of it (health/check_engine.h), sorted in.
std::vector<Finding> evaluate(const store::Snapshot& snapshot, const Expected& expected = {},
                              std::vector<Finding> checked = {});

// ok: everything that should be read is read, and nothing is wrong. degraded: works, with warnings.
// critical: a GPU or the driver can't be used. unknown: we can't tell; never to be taken for healthy.
enum class Verdict { ok, degraded, critical, unknown };

// Stable lower-case word.
const char* to_string(Verdict verdict);

struct NodeVerdict {
  Verdict verdict = Verdict::unknown;
  std::string reason;  // one line for people, e.g. "GPU 3 is lost; 7 of 8 GPUs answer"
};

// `findings` are those of evaluate().
NodeVerdict judge(const store::Snapshot& snapshot, const std::vector<Finding>& findings);

}  // namespace stoker::health
