// Composition: what the schedule for idle cards has to say of a card, from the rows that are kept of it and from how the runs on
// it ended. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/diag_db.h"
#include "model/finding.h"
#include "model/test_schedule.h"
#include "store/snapshot.h"

namespace stoker::app {

inline constexpr const char* diag_not_made_rule = "diag-not-made";

// A time that diag.db keeps; nullopt: it is none.
std::optional<WallTime> kept_time(std::string_view text);

// What of a card's kept results says that it is not sound: each test whose last verdict is a fail. `rows`: newest first.
// Level 1 is left out, for the agent's own checks find that. nullopt: nothing.
std::optional<Finding> failed_tests(const store::GpuSnapshot& gpu,
                                    const std::vector<db::DiagRow>& rows);

// Did it find a card, or its node, unsound, and diag.db does not have what?
bool is_unkept(const TestRun& run);

// What the schedule's runs on a card say, since the last one that was made: that it can't be tested, or that what failed is not
// kept. `level`: as the option diag.level has it; `folder`: that of diag.db.
std::optional<Finding> run_problem(const store::GpuSnapshot& gpu, const std::vector<TestRun>& runs,
                                   const std::string& level, const std::string& folder);

// Of a diag.db that can't be read.
Finding results_unread(const std::string& why, const std::string& folder);

}  // namespace stoker::app
