#include "device/simnode/faults.h"

#include <cstring>
#include <set>

#include "device/simnode/simnode_test_support.h"

namespace stoker::simnode {
namespace {

using Lines = std::vector<std::string>;

TEST_F(SimNodeTest, Xid79LosesTheGpuAndTheKernelSaysSo) {
  make("hgx-h200x4");
  EXPECT_EQ(inject({.name = "xid", .args = {"79"}, .gpu = "3"}), "Xid 79 on GPU 3");
  const std::string recovery =
      "NVRM: Xid (PCI:0000:00:09): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node "
      "Reboot Required)";
  EXPECT_EQ(kernel(),
            (Lines{"NVRM: GPU at PCI:0000:00:09: GPU-51000000-f831-4000-8000-000000000004",
                   "NVRM: GPU Board Serial Number: 9994872170004",
                   "NVRM: Xid (PCI:0000:00:09): 79, GPU has fallen off the bus.", recovery,
                   "NVRM: GPU 0000:00:09.0: GPU has fallen off the bus."}));
  const auto now = state();
  EXPECT_EQ(now->gpus[3].presence, sim::Presence::lost);
  EXPECT_EQ(now->gpus[3].modes.recovery_action, 2U);
  EXPECT_EQ(now->gpus[2].presence, sim::Presence::present);
  ASSERT_EQ(now->last_event, 3U);
  EXPECT_EQ(now->events[0].type, 8U);
  EXPECT_EQ(now->events[0].data, 79U);
  EXPECT_EQ(now->events[0].gpu, 3U);
  EXPECT_EQ(root_file("/sys/bus/pci/devices/0000:00:09.0/current_link_speed"), "Unknown\n");
  EXPECT_EQ(root_file("/sys/bus/pci/devices/0000:00:08.0/current_link_speed"), "32.0 GT/s PCIe\n");
}

TEST_F(SimNodeTest, AGpuIsIntroducedInTheKernelLogOnceOnly) {
  make("hgx-h200x4");
  inject({.name = "xid", .args = {"31"}, .gpu = "0"});
  inject({.name = "xid", .args = {"43"}, .gpu = "0"});
  EXPECT_EQ(kernel().size(), 4U);
}

TEST_F(SimNodeTest, AnXidNamesTheProcessThatTheGpuHas) {
  make_idle("hgx-h200x4");
  ASSERT_EQ(inject({.name = "process", .args = {"add", "1281", "xid", "512"}, .gpu = "0"}),
            "process 1281 (xid) holds 512 MiB on GPU 0");
  inject({.name = "xid", .args = {"31"}, .gpu = "0"});
  EXPECT_EQ(kernel().back(),
            "NVRM: Xid (PCI:0000:00:06): 31, pid=1281, name=xid, channel 0x0000000a, intr "
            "00000000. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_6 faulted @ 0x802c_c9e00000. "
            "Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE");
  EXPECT_EQ(gpu(0).processes[0].used_bytes, 512ULL << 20U);
  EXPECT_EQ(inject({.name = "process", .args = {"remove", "1281"}}), "process 1281 has left GPU 0");
  EXPECT_EQ(inject({.name = "process", .args = {"remove", "1281"}}),
            "refused: GPU 0 has no process 1281");
}

TEST_F(SimNodeTest, DoubleBitErrorsCountAndMarkARow) {
  make_idle("hgx-h200x4");
  inject({.name = "ecc-dbe", .args = {"2"}, .gpu = "1"});
  const sim::Gpu hurt = gpu(1);
  EXPECT_EQ(hurt.ecc.total[1][0], 2U);
  EXPECT_EQ(hurt.ecc.total[1][1], 2U);
  EXPECT_EQ(hurt.ecc.by_location[1][0][2], 2U);
  EXPECT_EQ(hurt.ecc.total[0][0], 0U);
  EXPECT_EQ(hurt.ecc.remap_pending, 1U);
  EXPECT_EQ(hurt.ecc.remapped_uncorrectable, 1U);
  EXPECT_EQ(hurt.ecc.row_histogram[0], 3071U);
  EXPECT_EQ(hurt.ecc.row_histogram[1], 1U);
  EXPECT_EQ(hurt.modes.recovery_action, 1U);
  EXPECT_EQ(state()->events[0].type, 2U);
  EXPECT_NE(kernel().back().find(" 63, Row Remapper"), std::string::npos);
}

TEST_F(SimNodeTest, BeforeAmpereAPageIsRetiredInstead) {
  make("t4x4");
  inject({.name = "ecc-dbe"});
  EXPECT_EQ(gpu(0).ecc.retired_count[1], 1U);
  EXPECT_EQ(gpu(0).ecc.retired_pending, 1U);
  EXPECT_EQ(gpu(0).ecc.remap_pending, 0U);
  EXPECT_NE(kernel().back().find("63, Dynamic Page Retirement"), std::string::npos);
}

TEST_F(SimNodeTest, SingleBitErrorsAreSilentInTheKernel) {
  make("hgx-h200x4");
  inject({.name = "ecc-sbe", .args = {"1000"}});
  EXPECT_EQ(gpu(0).ecc.total[0][1], 1000U);
  EXPECT_TRUE(kernel().empty());
}

TEST_F(SimNodeTest, ARemapFailureLeavesABankWithoutSpareRows) {
  make("hgx-h200x4");
  inject({.name = "remap-failure"});
  EXPECT_EQ(gpu(0).ecc.remap_failed, 1U);
  EXPECT_EQ(gpu(0).ecc.row_histogram[4], 1U);
  EXPECT_EQ(node_->report().gpus[0].faults, (Lines{"remap-failure", "recovery action: 1"}));
}

TEST_F(SimNodeTest, CallsHangWaitAndFailByRowsOfTheState) {
  make("hgx-h200x4");
  EXPECT_EQ(inject({.name = "hang", .gpu = "2"}), "every call on GPU 2 never returns from now on");
  EXPECT_EQ(inject({.name = "slow", .gpu = "0", .call = "nvmlDeviceGetPowerUsage", .delay = "2s"}),
            "nvmlDeviceGetPowerUsage on GPU 0 takes 2s more from now on");
  EXPECT_EQ(inject({.name = "fail",
                    .gpu = "1",
                    .call = "nvmlDeviceGetTemperature",
                    .return_code = "NVML_ERROR_GPU_IS_LOST"}),
            "nvmlDeviceGetTemperature on GPU 1 answers 15 from now on");
  EXPECT_EQ(inject({.name = "block-on", .args = {"/mnt/stuck"}, .gpu = "3"}),
            "every call on GPU 3 first reads /mnt/stuck from now on");
  const auto now = state();
  EXPECT_EQ(now->faults[0].never_returns, 1U);
  EXPECT_EQ(now->faults[0].gpu, 2);
  EXPECT_EQ(now->faults[1].delay_ns, 2'000'000'000U);
  EXPECT_EQ(now->faults[1].function, sim::name_hash("nvmlDeviceGetPowerUsage"));
  EXPECT_EQ(now->faults[2].code, 15);
  EXPECT_STREQ(now->faults[3].read_path, "/mnt/stuck");
  EXPECT_EQ(node_->report().gpus[2].faults, Lines{"hang: every call"});
  EXPECT_EQ(node_->report().gpus[0].faults, Lines{"slow by 2 s: nvmlDeviceGetPowerUsage"});
}

TEST_F(SimNodeTest, ASecondFaultOfTheSameCallReplacesTheFirst) {
  make("hgx-h200x4");
  inject({.name = "slow", .delay = "1s"});
  inject({.name = "hang"});
  EXPECT_EQ(state()->faults[0].never_returns, 1U);
  EXPECT_EQ(state()->faults[1].used, 0U);
}

TEST_F(SimNodeTest, AVanishedGpuTakesItsFilesAlongAndBringsThemBack) {
  make("hgx-h200x4");
  const std::string pci = node_->root() + "/sys/bus/pci/devices/0000:00:07.0";
  const std::string proc = node_->root() + "/proc/driver/nvidia/gpus/0000:00:07.0";
  ASSERT_TRUE(exists(pci + "/vendor"));
  inject({.name = "vanish", .gpu = "1"});
  EXPECT_FALSE(exists(pci));
  EXPECT_FALSE(exists(proc));
  EXPECT_EQ(gpu(1).presence, sim::Presence::vanished);
  EXPECT_EQ(inject({.name = "return", .gpu = "1"}), "GPU 1 is back; handles of before stay lost");
  EXPECT_TRUE(exists(pci + "/vendor"));
  EXPECT_TRUE(exists(proc + "/information"));
  EXPECT_EQ(gpu(1).incarnation, 1U);
  EXPECT_EQ(inject({.name = "return", .gpu = "1"}), "refused: GPU 1 is there already");
}

TEST_F(SimNodeTest, HeatGoesJustAboveTheCardsOwnThreshold) {
  make_idle("hgx-h200x4");
  EXPECT_EQ(inject({.name = "thermal"}),
            "GPU 0 at 90 degrees; clocks and reasons follow its thresholds");
  EXPECT_NEAR(gpu(0).disturbance.temperature_mc, 55'000, 1'000);
  EXPECT_EQ(inject({.name = "thermal", .args = {"70"}}),
            "GPU 0 at 70 degrees; clocks and reasons follow its thresholds");
  EXPECT_NEAR(gpu(0).disturbance.temperature_mc, 35'000, 1'000);
}

TEST_F(SimNodeTest, APowerBrakeHalvesTheClocks) {
  make("hgx-h200x4");
  inject({.name = "power-brake"});
  EXPECT_EQ(gpu(0).disturbance.clocks_event_reasons, 0x88U);
  EXPECT_EQ(gpu(0).disturbance.sm_clock_limit_mhz, 990U);
}

TEST_F(SimNodeTest, NvLinksGoDownWithTheXidOfTheirGeneration) {
  make_idle("hgx-h200x4");
  EXPECT_EQ(inject({.name = "nvlink-down", .gpu = "0", .link = 7}), "NVLink 7 of GPU 0 is down");
  EXPECT_EQ(gpu(0).links[7].active, 0U);
  EXPECT_EQ(gpu(0).links[6].active, 1U);
  EXPECT_EQ(kernel().at(2),
            "NVRM: Xid (PCI:0000:00:06): 74, NVLink: fatal error detected on link 7(0x0, 0x0, "
            "0x10000, 0x0, 0x0, 0x0, 0x0)");
  EXPECT_EQ(inject({.name = "nvlink-down", .gpu = "0", .link = 18}),
            "refused: --link: GPU 0 has NVLinks 0 to 17, not 18");
}

TEST_F(SimNodeTest, BlackwellPrintsXid149ForALink) {
  make("gb200-like");
  inject({.name = "nvlink-down", .gpu = "0", .link = 3});
  EXPECT_EQ(kernel().at(2),
            "NVRM: Xid (PCI:0008:01:00): 149, NETIR_LINK_DOWN Fatal XC0 i0 Link 3 (0x00000011 "
            "0x00000001 0x0 0x0 0x0 0x0 [0x0])");
}

TEST_F(SimNodeTest, ACardWithoutLinksHasNoneToLose) {
  make("l40sx8");
  EXPECT_EQ(inject({.name = "nvlink-down"}), "refused: GPU 0 has no NVLink");
}

TEST_F(SimNodeTest, AnUnloadedDriverTakesItsFilesAlongAndStartsCountingAnew) {
  make("hgx-h200x4");
  inject({.name = "ecc-sbe", .args = {"5"}});
  inject({.name = "driver-unload"});
  EXPECT_EQ(state()->driver.loaded, 0U);
  EXPECT_FALSE(exists(node_->root() + "/proc/driver/nvidia"));
  EXPECT_EQ(inject({.name = "driver-unload"}), "refused: the driver is not loaded");
  EXPECT_EQ(inject({.name = "driver-load"}), "the driver is loaded, for the 2. time");
  EXPECT_EQ(state()->driver.load_count, 2U);
  EXPECT_TRUE(exists(node_->root() + "/proc/driver/nvidia/version"));
  EXPECT_EQ(gpu(0).ecc.total[0][0], 0U) << "volatile";
  EXPECT_EQ(gpu(0).ecc.total[0][1], 5U) << "aggregate";
}

TEST_F(SimNodeTest, InitFailsAsAsked) {
  make("hgx-h200x4");
  inject({.name = "init-fail", .args = {"LIB_RM_VERSION_MISMATCH"}});
  inject({.name = "permission-denied"});
  inject({.name = "global-lock"});
  EXPECT_EQ(state()->driver.init_code, 18);
  EXPECT_EQ(node_->report().faults, (Lines{"global-lock", "permission-denied", "init-fail 18"}));
}

TEST_F(SimNodeTest, MigIsSwitchedAndFilledAndRefusesWhatACardRefuses) {
  make("hgx-h200x4");
  EXPECT_EQ(inject({.name = "mig-create", .args = {"3g.71gb"}}),
            "refused: MIG is off on this GPU; inject mig-mode on first");
  EXPECT_EQ(inject({.name = "mig-mode", .args = {"on"}}), "MIG is on on GPU 0");
  EXPECT_EQ(inject({.name = "mig-create", .args = {"3g.71gb"}}).substr(0, 18),
            "GPU 0: 3g.71gb gi=");
  EXPECT_EQ(inject({.name = "mig-create", .args = {"3g.71gb"}}).substr(0, 18),
            "GPU 0: 3g.71gb gi=");
  EXPECT_TRUE(inject({.name = "mig-create", .args = {"1g.18gb"}})
                  .starts_with("refused: no place is free for 1g.18gb; in use are 3g.71gb"));
  EXPECT_TRUE(inject({.name = "mig-create", .args = {"3g.77gb"}})
                  .starts_with("refused: there is no MIG profile '3g.77gb' on this GPU; there are "
                               "3g.71gb, "));
  EXPECT_EQ(node_->report().gpus[0].migs.size(), 2U);
  inject({.name = "mig-mode", .args = {"off"}});
  EXPECT_TRUE(node_->report().gpus[0].migs.empty());
}

TEST_F(SimNodeTest, MigInstancesHaveANumberAndANameForEachPlace) {
  make("a30x2");
  inject({.name = "mig-mode", .args = {"on"}});
  for (int i = 0; i < 4; ++i) inject({.name = "mig-create", .args = {"1g.6gb"}});
  std::set<std::string> names;
  for (const sim::GpuInstance& instance : gpu(0).mig.instances) {
    if (instance.used == 0) continue;
    EXPECT_EQ(instance.id, 3 + instance.start) << "0 is the whole card, 1 and 2 are its halves";
    names.emplace(instance.compute[0].uuid);
  }
  EXPECT_EQ(names.size(), 4U);
  EXPECT_TRUE(names.begin()->ends_with("-4000-8000-000100030000")) << *names.begin();
}

TEST_F(SimNodeTest, MigTakesTheLoadsProcessAwayAndGivesItBack) {
  make("hgx-h200x4");
  EXPECT_EQ(node_->report().gpus[0].pids.size(), 1U);
  inject({.name = "mig-mode", .args = {"on"}});
  EXPECT_TRUE(node_->report().gpus[0].pids.empty());
  inject({.name = "mig-mode", .args = {"off"}});
  EXPECT_EQ(node_->report().gpus[0].pids.size(), 1U);
}

TEST_F(SimNodeTest, InstancesOnAllGpusAreMadeOnAllOrOnNone) {
  make("hgx-h200x4");
  inject({.name = "mig-mode", .args = {"on"}, .gpu = "all"});
  inject({.name = "mig-create", .args = {"7g.141gb"}, .gpu = "3"});
  EXPECT_TRUE(inject({.name = "mig-create", .args = {"1g.18gb"}, .gpu = "all"})
                  .starts_with("refused: no place is free"));
  EXPECT_TRUE(node_->report().gpus[0].migs.empty());
}

TEST_F(SimNodeTest, GpusAreFoundByIndexUuidAndPciAddress) {
  make("hgx-h200x4");
  for (const auto& name :
       {std::string("2"), std::string("GPU-51000000-f831-4000-8000-000000000003"),
        std::string("0000:00:08.0"), std::string("00000000:00:08.0")}) {
    EXPECT_EQ(inject({.name = "vanish", .gpu = name}),
              "GPU 2 is gone: handles are lost, new clients don't see it")
        << name;
  }
  EXPECT_EQ(inject({.name = "vanish", .gpu = "4"}),
            "refused: --gpu: there is no GPU '4'; there are 0 to 3, their UUIDs and PCI addresses, "
            "and all");
}

TEST_F(SimNodeTest, WhatIsWrongIsSaidAndNothingChanges) {
  make("hgx-h200x4");
  const auto before = state();
  EXPECT_TRUE(
      inject({.name = "hnag"}).starts_with("refused: there is no fault 'hnag'; there are hang, "));
  EXPECT_EQ(inject({.name = "xid"}),
            "refused: xid wants more arguments; usage: xid CODE [--gpu N] [--link N]");
  EXPECT_EQ(inject({.name = "vanish", .args = {"1"}}),
            "refused: vanish wants fewer arguments; usage: vanish [--gpu N]");
  EXPECT_EQ(inject({.name = "xid", .args = {"seventy"}}),
            "refused: xid has to be a whole number from 1 to 999, not 'seventy'");
  EXPECT_EQ(inject({.name = "slow"}),
            "refused: slow wants --delay; usage: slow --delay TIME [--call NAME] [--gpu N]");
  EXPECT_EQ(inject({.name = "slow", .delay = "2 fortnights"}),
            "refused: --delay has to be a time up to a day like 2s, 150ms or 5m, not '2 "
            "fortnights'");
  EXPECT_TRUE(
      inject({.name = "hang", .call = "nvmlDeviceGetPwerUsage"})
          .starts_with("refused: --call: NVML has no function 'nvmlDeviceGetPwerUsage'; the "
                       "nearest are nvmlDeviceGetPowerUsage, "));
  EXPECT_TRUE(inject({.name = "fail", .return_code = "GPU_IS_LOSTT"})
                  .starts_with("refused: --return has to be a number of nvmlReturn or one of "
                               "gpu_is_lost, "));
  EXPECT_EQ(inject({.name = "driver-unload", .gpu = "3"}),
            "refused: driver-unload takes no --gpu; usage: driver-unload ");
  EXPECT_TRUE(kernel().empty());
  const auto after = state();
  after->header = before->header;
  EXPECT_EQ(std::memcmp(before.get(), after.get(), sizeof *before), 0);
}

TEST_F(SimNodeTest, ClearTakesFaultsBackAndLeavesWhatWasCounted) {
  make("hgx-h200x4");
  inject({.name = "xid", .args = {"79"}, .gpu = "3"});
  inject({.name = "ecc-dbe", .gpu = "1"});
  inject({.name = "hang", .gpu = "all"});
  inject({.name = "thermal", .gpu = "0"});
  inject({.name = "nvlink-down", .gpu = "0"});
  inject({.name = "vanish", .gpu = "2"});
  inject({.name = "driver-unload"});
  ASSERT_TRUE(node_->clear("all"));
  const auto report = node_->report();
  EXPECT_TRUE(report.faults.empty());
  for (const auto& one : report.gpus) EXPECT_TRUE(one.faults.empty()) << one.index;
  EXPECT_EQ(gpu(1).ecc.total[1][1], 1U);
  EXPECT_EQ(gpu(1).ecc.remapped_uncorrectable, 1U);
  EXPECT_EQ(gpu(0).links[0].errors[0], 1U);
  EXPECT_EQ(root_file("/sys/bus/pci/devices/0000:00:09.0/current_link_width"), "16\n");
  EXPECT_TRUE(exists(node_->root() + "/sys/bus/pci/devices/0000:00:08.0/vendor"));
  EXPECT_TRUE(exists(node_->root() + "/proc/driver/nvidia/gpus/0000:00:08.0/information"));
}

TEST_F(SimNodeTest, ClearOfOneGpuLeavesTheOthersBroken) {
  make("hgx-h200x4");
  inject({.name = "hang", .gpu = "all"});
  ASSERT_TRUE(node_->clear("1"));
  EXPECT_TRUE(node_->report().gpus[1].faults.empty());
  EXPECT_FALSE(node_->report().gpus[0].faults.empty());
}

TEST_F(SimNodeTest, NoMoreThanSixtyFourFaultsAreKept) {
  make("hgx-h200x4");
  const std::vector<std::string> calls{
      "nvmlDeviceGetName",        "nvmlDeviceGetUUID",       "nvmlDeviceGetSerial",
      "nvmlDeviceGetBrand",       "nvmlDeviceGetIndex",      "nvmlDeviceGetPowerUsage",
      "nvmlDeviceGetTemperature", "nvmlDeviceGetClockInfo",  "nvmlDeviceGetMigMode",
      "nvmlDeviceGetEccMode",     "nvmlDeviceGetFanSpeed",   "nvmlDeviceGetMinorNumber",
      "nvmlDeviceGetBoardId",     "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetPciInfo",
      "nvmlDeviceGetNumFans"};
  for (const auto& call : calls) inject({.name = "hang", .gpu = "all", .call = call});
  EXPECT_EQ(inject({.name = "hang"}),
            "refused: 64 faults are active already; stoker sim clear takes some back");
  ASSERT_TRUE(node_->clear("0"));
  inject({.name = "hang", .gpu = "0", .call = "nvmlDeviceGetName"});
  const auto before = node_->report().gpus[0].faults.size();
  for (const auto& call : {"nvmlDeviceGetUUID", "nvmlDeviceGetSerial", "nvmlDeviceGetBrand"}) {
    inject({.name = "hang", .gpu = "0", .call = call});
  }
  EXPECT_EQ(node_->report().gpus[0].faults.size(), before + 3);
  for (unsigned i = 0; i < 10; ++i) {
    inject({.name = "slow", .gpu = "0", .call = calls[i + 4], .delay = "1s"});
  }
  // Two rows are left, and "all" wants four.
  EXPECT_TRUE(inject({.name = "hang", .gpu = "all"}).starts_with("refused: 64 faults"));
  EXPECT_EQ(node_->report().gpus[0].faults.size(), before + 13);
}

TEST_F(SimNodeTest, TheKernelSaysWhatItIsToldTo) {
  make("hgx-h200x4");
  inject({.name = "kmsg", .args = {"NVRM: a line\nwith \\ and \xff"}});
  EXPECT_EQ(kernel().back(), "NVRM: a line\\x0awith \\x5c and \\xff");
}

TEST(Faults, EveryRowHasHelpAndARunnableExample) {
  for (const auto& fault : faults()) {
    EXPECT_FALSE(fault.help.empty()) << fault.name;
    EXPECT_TRUE(fault.usage.starts_with(fault.name)) << fault.usage;
    EXPECT_TRUE(fault.example.starts_with("stoker sim inject --data DIR " + fault.name))
        << fault.example;
  }
}

}  // namespace
}  // namespace stoker::simnode
