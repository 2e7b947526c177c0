#include "diag_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diag/test_row.h"
#include "event/log_time.h"

namespace stoker::app {
namespace {

constexpr const char* diag_spec = "docs/specs/diag.md";
// The first time may be anything.
constexpr int not_made_told_from = 2;

bool is_state(const std::string& test) { return test.starts_with("state_"); }

// A test of links needs other cards to pass.
std::string run_that_repeats(const std::vector<const db::DiagRow*>& failed,
                             const std::string& uuid) {
  const bool of_links = std::ranges::any_of(failed, [](const db::DiagRow* row) {
    const auto* test = diag::find_test(row->test);
    return test != nullptr && diag::is_of_all_cards(test->step);
  });
  return of_links ? "Take the work off all cards of the node and repeat stoker diag --level 2 "
                    "without --gpu"
                  : "Take the work off it and repeat stoker diag --level 2 --gpu " + uuid;
}

std::string card_name(const store::GpuSnapshot& gpu) {
  return fmt::format("GPU {} ({})", gpu.info.index, gpu.info.pci.sysfs());
}

std::string same_run(const store::GpuSnapshot& gpu, const std::string& level) {
  return fmt::format("stoker diag --level {} --gpu {}", level, gpu.info.uuid);
}

}  // namespace

std::optional<WallTime> kept_time(std::string_view text) {
  event::LogTime time;
  return event::take_iso_time(text, time) ? time.wall : std::nullopt;
}

std::optional<Finding> failed_tests(const store::GpuSnapshot& gpu,
                                    const std::vector<db::DiagRow>& rows) {
  std::set<std::string> known;
  std::vector<const db::DiagRow*> failed;
  for (const auto& row : rows) {
    // A test that was not made says nothing, neither for nor against.
    if (is_state(row.test) || row.verdict == "not_tested" || !known.insert(row.test).second)
      continue;
    if (row.verdict == "fail") failed.push_back(&row);
  }
  if (failed.empty()) return std::nullopt;
  const auto& first = *failed.front();
  Finding out{
      .rule = "diag-failed",
      .severity = Severity::error,
      .since = kept_time(first.started),
      .entity = {EntityKind::gpu, gpu.info.uuid},
      .message = fmt::format(
          "{} failed {}{}: {}", card_name(gpu), first.test,
          failed.size() == 1 ? std::string() : fmt::format(" and {} more tests", failed.size() - 1),
          first.reason),
      .cause = "An active test found it too slow, or wrong in what it does",
      .action = Action::field_diag,
      .fix = fmt::format(
          "{}: a test that passes then is no finding any more; if it fails again, run NVIDIA's "
          "field diagnostic",
          run_that_repeats(failed, gpu.info.uuid)),
      .source = diag_spec};
  out.evidence.reserve(failed.size());
  for (const auto* row : failed)
    out.evidence.push_back(fmt::format("{} {}: {}", row->started, row->test, row->reason));
  return out;
}

bool is_unkept(const TestRun& run) { return run.end == TestRunEnd::failed && !run.kept; }

std::optional<Finding> run_problem(const store::GpuSnapshot& gpu, const std::vector<TestRun>& runs,
                                   const std::string& level, const std::string& folder) {
  const Entity entity{EntityKind::gpu, gpu.info.uuid};
  const auto is_told = [](const TestRun& run) {
    return run.end == TestRunEnd::not_ended || is_unkept(run) ||
           (run.end == TestRunEnd::not_made && run.in_a_row >= not_made_told_from);
  };
  const auto last = std::find_if(runs.rbegin(), runs.rend(), is_told);
  if (last == runs.rend()) return std::nullopt;
  if (last->end == TestRunEnd::failed) {
    return Finding{
        .rule = "diag-failed",
        .severity = Severity::error,
        .entity = entity,
        .message =
            fmt::format("{} or its node failed a test, and which is not kept", card_name(gpu)),
        .fix = fmt::format("Run {} and see which; look whether {}/diag.db can be written",
                           same_run(gpu, level), folder),
        .source = diag_spec};
  }
  return Finding{.rule = diag_not_made_rule,
                 .entity = entity,
                 .message = fmt::format("{} could not be tested while it was idle: {}",
                                        card_name(gpu), last->reason),
                 .fix = fmt::format("Run {} and see what is in the way", same_run(gpu, level)),
                 .source = diag_spec};
}

Finding results_unread(const std::string& why, const std::string& folder) {
  return {.rule = "diag-unread",
          .entity = {EntityKind::node, ""},
          .message = fmt::format("No idle GPU is tested: diag.db can't be read: {}", why),
          .fix = fmt::format("Put {}/diag.db aside, or set diag.idle to 0s", folder),
          .source = diag_spec};
}

}  // namespace stoker::app
