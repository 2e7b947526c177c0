#include "store/owners.h"

#include <gtest/gtest.h>

#include "store/store_test_support.h"

namespace stoker::store {
namespace {

class OwnersTest : public testing::Test {
 protected:
  void list(unsigned gpu, std::initializer_list<std::uint32_t> pids) {
    std::vector<device::ProcessInfo> processes;
    for (const auto pid : pids) processes.push_back({.pid = pid});
    const auto count = static_cast<std::int64_t>(pids.size());
    node_.store.on_processes(pci_of(gpu), Reading::of(count, node_.clock.monotonic()), processes);
  }
  void own(std::initializer_list<std::uint32_t> pids) {
    Attribution told;
    told.processes = {.reason = Reason::ok, .at = node_.clock.monotonic()};
    for (const auto pid : pids) told.owners[pid] = {.user = "ada"};
    node_.store.on_attribution(std::move(told));
  }
  [[nodiscard]] std::vector<std::uint32_t> owned() const {
    std::vector<std::uint32_t> pids;
    const auto attribution = node_.store.snapshot().attribution;
    for (const auto& [pid, owner] : attribution->owners) pids.push_back(pid);
    return pids;
  }

  RunningStore node_{2};
};

using Pids = std::vector<std::uint32_t>;

TEST_F(OwnersTest, AnOwnerLeavesWithItsProcess) {
  list(0, {7, 8});
  list(1, {8});
  own({7, 8});
  EXPECT_EQ(owned(), (Pids{7, 8}));
  list(0, {});
  EXPECT_EQ(owned(), (Pids{8})) << "8 is on the other GPU still";
  list(0, {7});
  EXPECT_EQ(owned(), (Pids{8})) << "this 7 may be another process";
  own({7, 8});
  EXPECT_EQ(owned(), (Pids{7, 8}));
}

TEST_F(OwnersTest, NobodyOwnsWhatIsNotListed) {
  list(0, {7});
  own({7, 9});
  EXPECT_EQ(owned(), (Pids{7}));
  node_.store.on_gpu_state(pci_of(0), device::GpuState::lost, "gone");
  EXPECT_EQ(owned(), (Pids{})) << "a lost GPU's list is not known";
}

TEST_F(OwnersTest, AnOwnerThatWasLookedUpLongBeforeTheListIsNotTold) {
  list(0, {7});
  own({7});
  node_.clock.advance(Seconds(5));
  list(0, {7});
  EXPECT_EQ(owned(), (Pids{7})) << "the watch is about to look again";
  node_.clock.advance(Seconds(11));
  list(0, {7});
  EXPECT_EQ(owned(), (Pids{})) << "nothing has looked for three lists";
}

TEST_F(OwnersTest, WhereNothingLooksThereIsNoAttribution) {
  list(0, {7});
  EXPECT_EQ(node_.store.snapshot().attribution, nullptr);
}

}  // namespace
}  // namespace stoker::store
