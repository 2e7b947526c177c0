#include "device/nvml/process_list.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "device/nvml/fake_library_test_support.h"

namespace stoker::nvml {
namespace {

using abi::Device;
using abi::Return;

// A driver that writes entries of `stride` bytes, and touches nothing behind them.
void write_entries(std::uint8_t* to, std::size_t stride, const std::vector<std::uint32_t>& pids) {
  for (std::size_t i = 0; i < pids.size(); ++i) {
    std::uint8_t* const entry = to + i * stride;
    std::memset(entry, 0, stride);
    const std::uint64_t bytes = 1000 * (i + 1);
    std::memcpy(entry, &pids[i], sizeof(pids[i]));
    std::memcpy(entry + 8, &bytes, sizeof(bytes));
    if (stride < 24) continue;
    const std::uint32_t instances[] = {abi::no_instance_id, abi::no_instance_id};
    std::memcpy(entry + 16, instances, sizeof(instances));
  }
}

std::vector<std::uint8_t> filled(std::size_t stride, const std::vector<std::uint32_t>& pids) {
  std::vector<std::uint8_t> buffer(64 * 40, unwritten);
  write_entries(buffer.data(), stride, pids);
  return buffer;
}

RC_GTEST_PROP(ProcessStride, IsDerivedFromWhatWasWrittenForEveryLayout, ()) {
  const auto stride = *rc::gen::element<std::size_t>(16, 24, 32, 40);
  const auto pids =
      *rc::gen::resize(30, rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint32_t>>(
                               rc::gen::inRange<std::uint32_t>(1, 4'194'304))));
  const auto buffer = filled(stride, pids);
  RC_ASSERT(derive_stride(buffer, pids.size()) == stride);
  const auto entries = split_entries(buffer, pids.size());
  RC_ASSERT(entries.has_value());
  for (std::size_t i = 0; i < pids.size(); ++i) {
    RC_ASSERT((*entries)[i].pid == pids[i]);
    RC_ASSERT((*entries)[i].used_bytes == 1000 * (i + 1));
  }
}

TEST(ProcessStride, IsUnknownWhereTheExtentIsNoWholeNumberOfEntries) {
  auto buffer = filled(24, {10, 20});
  EXPECT_EQ(derive_stride(buffer, 3), 16U);  // 48 bytes: three of 16, which then make no sense
  EXPECT_EQ(split_entries(buffer, 3), std::nullopt);
  buffer[100] = 0;
  EXPECT_EQ(split_entries(buffer, 2), std::nullopt);
  EXPECT_EQ(split_entries(std::vector<std::uint8_t>(4096, unwritten), 2), std::nullopt);
  EXPECT_EQ(split_entries(std::vector<std::uint8_t>(4096, 0), 2), std::nullopt);
}

// What the fake driver below lists, and how.
struct Lists {
  std::size_t v3_stride = 24;
  std::vector<std::uint32_t> v3;
  std::vector<std::uint32_t> v2;
  int v2_calls = 0;
  Return v3_code = Return::success;
};
Lists lists;
std::map<std::uint32_t, ProcessLook::Presence> presence;

template <typename Entry>
Return answer(const std::vector<std::uint32_t>& pids, std::size_t stride, unsigned* count,
              Entry* to) {
  const auto needed = static_cast<unsigned>(pids.size());
  const bool fits = needed <= *count;
  *count = needed;
  if (!fits) return Return::insufficient_size;
  write_entries(reinterpret_cast<std::uint8_t*>(to), stride, pids);
  return Return::success;
}

Library library() {
  lists = Lists{};
  presence.clear();
  Library made = fake::library();
  made.functions.nvmlDeviceGetComputeRunningProcesses_v3 = [](Device, unsigned* count, void* to) {
    if (lists.v3_code != Return::success) return lists.v3_code;
    return answer(lists.v3, lists.v3_stride, count, to);
  };
  made.functions.nvmlDeviceGetComputeRunningProcesses_v2 = [](Device, unsigned* count,
                                                              abi::ProcessInfoV2* to) {
    ++lists.v2_calls;
    return answer(lists.v2, 24, count, to);
  };
  return made;
}

struct Listed {
  Reading reading;
  std::vector<device::ProcessInfo> processes;
};

Listed list(const fake::Opened& opened) {
  Listed listed;
  listed.reading = opened.gpu().processes(listed.processes);
  return listed;
}

fake::Opened open(Library made) {
  DriverOptions options;
  options.look_up_process = [](std::uint32_t pid) {
    const auto found = presence.find(pid);
    return ProcessLook{found == presence.end() ? ProcessLook::Presence::absent : found->second,
                       "process " + std::to_string(pid)};
  };
  return fake::open(std::move(made), options);
}

TEST(ProcessList, OfAnyStrideIsReadWithoutAskingForTheOldOne) {
  for (const std::size_t stride : {16, 24, 32, 40}) {
    const auto opened = open(library());
    lists.v3_stride = stride;
    lists.v3 = {11, 22, 33};
    for (const std::uint32_t pid : lists.v3) presence[pid] = ProcessLook::Presence::running;
    const Listed listed = list(opened);
    EXPECT_EQ(listed.reading.value, Value(std::int64_t{3})) << stride;
    ASSERT_EQ(listed.processes.size(), 3U);
    EXPECT_EQ(listed.processes[2].pid, 33U);
    EXPECT_EQ(listed.processes[2].memory_bytes, 3000U);
    EXPECT_EQ(listed.processes[2].name, "process 33");
    EXPECT_EQ(lists.v2_calls, 0);
  }
}

TEST(ProcessList, WhosePidsDoNotRunIsSettledByTheOldOneOnceOnly) {
  const auto opened = open(library());
  lists.v3 = lists.v2 = {11, 22};  // a container without the host's pid namespace
  EXPECT_EQ(list(opened).reading.value, Value(std::int64_t{2}));
  EXPECT_EQ(lists.v2_calls, 1);
  EXPECT_EQ(list(opened).reading.value, Value(std::int64_t{2}));
  EXPECT_EQ(lists.v2_calls, 1);
}

TEST(ProcessList, ThatMakesNoSenseFallsBackToTheOldOne) {
  const auto opened = open(library());
  lists.v3_stride = 20;  // a layout that nobody knows yet
  lists.v3 = {11, 22};
  lists.v2 = {11, 22};
  const Listed listed = list(opened);
  ASSERT_EQ(listed.processes.size(), 2U);
  EXPECT_EQ(listed.processes[1].pid, 22U);
}

TEST(ProcessList, ThatMakesNoSenseAndHasNoOldOneIsUnknown) {
  Library made = library();
  made.functions.nvmlDeviceGetComputeRunningProcesses_v2 = nullptr;
  const auto opened = open(std::move(made));
  lists.v3_stride = 20;
  lists.v3 = {11, 22};
  EXPECT_EQ(list(opened).reading.reason, Reason::invalid);
}

TEST(ProcessList, GrowsUntilAllFit) {
  const auto opened = open(library());
  for (std::uint32_t pid = 1; pid <= 200; ++pid) {
    lists.v3.push_back(pid);
    presence[pid] = ProcessLook::Presence::running;
  }
  EXPECT_EQ(list(opened).reading.value, Value(std::int64_t{200}));
}

TEST(ProcessList, AnEmptyOneIsANumberAndNotAnUnknown) {
  const auto opened = open(library());
  EXPECT_EQ(list(opened).reading.value, Value(std::int64_t{0}));
}

TEST(ProcessList, ThatIsRefusedSaysWhy) {
  const auto opened = open(library());
  lists.v3_code = Return::no_permission;
  EXPECT_EQ(list(opened).reading.reason, Reason::no_permission);
  lists.v3_code = Return::gpu_is_lost;
  EXPECT_EQ(list(opened).reading.reason, Reason::lost);
}

TEST(ProcessList, ShowsAProcessOfTwoListsOnce) {
  Library made = library();
  made.functions.nvmlDeviceGetGraphicsRunningProcesses_v3 = [](Device, unsigned* count, void* to) {
    return answer({11, 44}, 24, count, to);
  };
  const auto opened = open(std::move(made));
  lists.v3 = {11, 22};
  for (const std::uint32_t pid : {11, 22, 44}) presence[pid] = ProcessLook::Presence::running;
  const Listed listed = list(opened);
  ASSERT_EQ(listed.processes.size(), 3U);
  EXPECT_TRUE(listed.processes[0].compute);
  EXPECT_EQ(listed.processes[2].pid, 44U);
  EXPECT_FALSE(listed.processes[2].compute);
}

}  // namespace
}  // namespace stoker::nvml
