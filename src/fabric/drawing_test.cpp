#include "fabric/drawing.h"

#include <gtest/gtest.h>

#include <sstream>

#include "fabric/fabric_test_support.h"
#include "fabric/judge.h"
#include "model/wrap.h"

namespace stoker::fabric {
namespace {

std::string drawn(const Sweep& now, const Sweep& before) {
  return drawing(now, judge(now, &before, nullptr), Severity::warning);
}

TEST(FabricDrawing, ShowsTheSwitchesWithWhatIsWrongAtThem) {
  const auto before = two_leaves();
  auto now = two_leaves().later(Seconds(300));
  now.count({leaf1, 4}, CounterId::symbol_error, 5'000).unplug({leaf1, 7});
  now.count({first_host + 5, 1}, CounterId::link_downed, 3);
  EXPECT_EQ(drawn(now.sweep(), before.sweep()), R"(S-leaf1  0x0000000000200001
├─ port 4   ─ 4X HDR  ─ bad            ─ H-gpu04 port 1
├─ port 7   ─ no link ─ down           ─ S-spine port 1
└─ 4 other cables

S-leaf2  0x0000000000200002
├─ port 2   ─ 4X HDR  ─ flapping       ─ H-gpu06 port 1
└─ 5 other cables
)");
}

TEST(FabricDrawing, IsEmptyWhereNothingIsWrong) {
  const auto before = two_leaves();
  EXPECT_EQ(drawn(two_leaves().later(Seconds(300)).sweep(), before.sweep()), "");
}

TEST(FabricDrawing, NoLineIsWiderThanATerminalAndNoNodeLongerThanAScreen) {
  auto before = two_leaves();
  before.leaf(0x400000,
              "a switch whose description somebody wrote who had never seen a terminal of 80", 40);
  for (unsigned n = 1; n <= 40; ++n) {
    before.host(0x500000 + n,
                "a host with a description that is long too, and goes on to this length");
    before.cable({0x400000, n}, {0x500000 + n, 1});
  }
  auto now = before;
  now.later(Seconds(300));
  for (unsigned n = 1; n <= 39; ++n) now.count({0x400000, n}, CounterId::port_rcv_errors, 99);
  std::istringstream lines(drawn(now.sweep(), before.sweep()));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(columns(line), 80U) << line;
  EXPECT_EQ(count, 19U);
}

}  // namespace
}  // namespace stoker::fabric
