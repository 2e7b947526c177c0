// Every form of docs/specs/events.md, as drivers of several branches printed it, and text that only looks alike.
#include "event/event_parser.h"

#include <gtest/gtest.h>

#include "catalog/kernel_sign.h"
#include "event/event_text_test_support.h"
#include "event/sign_search.h"

namespace stoker::event {
namespace {

struct ParsedRow {
  const char* line;
  const char* event;  // empty: none
};

// Also: a line that is an event is never passed over unread, and what it says is in the catalogue.
void expect_rows(const std::vector<ParsedRow>& rows) {
  for (const auto& row : rows) {
    EXPECT_EQ(read_lines({row.line}), row.event) << row.line;
    EventParser parser;
    std::vector<Event> events;
    parser.read({.text = row.line, .program = "kernel", .kernel = true}, events);
    for (const auto& event : events) {
      EXPECT_EQ(event.text, row.line);
      EXPECT_NE(find_sign(row.line), std::string::npos) << row.line;
      EXPECT_TRUE(event.sign.empty() || find_kernel_sign(event.sign) != nullptr) << event.sign;
    }
  }
}

TEST(XidLine, IsReadInTheFormsOfAllBranches) {
  expect_rows({
      {"NVRM: Xid (0000:03:00): 14, Channel 00000001", "xid 14 0000:03:00.0"},
      {"NVRM: Xid (PCI:0000:08:00): 31, Ch 0000003b, intr 10000000. MMU Fault: ENGINE GRAPHICS "
       "GPCCLIENT_T1_0 "
       "faulted @ 0x7f_c9e00000. Fault is of type FAULT_PDE ACCESS_TYPE_READ",
       "xid 31 0000:08:00.0 engine=GRAPHICS address=0x7f_c9e00000 fault=FAULT_PDE "
       "access=ACCESS_TYPE_READ"},
      {"NVRM: Xid (PCI:0000:3b:00): 43, pid=123, name=python3, Ch 00000008",
       "xid 43 0000:3b:00.0 pid=123 process=python3"},
      {"NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the "
       "bus.",
       "xid 79 0000:3b:00.0"},
      {"NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", "xid 79 0000:3b:00.0"},
      {"NVRM: Xid (PCI:0000:3B:00.0): 79, GPU has fallen off the bus.", "xid 79 0000:3b:00.0"},
      {"NVRM: Xid (PCI:00000009:01:00): 62, pid=5, x", "xid 62 0009:01:00.0 pid=5"},
      {"NVRM: Xid (PCI:0000:01:00 GPU-I:05): 13, pid=9, name=a, Graphics SM Warp Exception on (GPC "
       "1, TPC 3, SM "
       "0): Out Of Range Address",
       "xid 13 0000:01:00.0 pid=9 process=a gi=5 gpc=1 tpc=3 sm=0"},
      {"NVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:01): 45, pid=9, name=a, Ch 00000008 caused by "
       "previous Xid 31",
       "xid 45 0000:01:00.0 pid=9 process=a gi=5 ci=1 root_xid=31"},
      {"NVRM: Xid (PCI:0000:4c:00): 94, pid=7194, name=t, Contained: CE User Channel (0x9). RST: "
       "No, D-RST: No",
       "xid 94 0000:4c:00.0 pid=7194 process=t unit=CE User Channel reset_required=no "
       "drain_and_reset=no"},
      {"NVRM: Xid (PCI:0000:4c:00): 95, pid=7, Uncontained: LTC TAG (0x2, 0x1). RST: Yes, D-RST: "
       "No",
       "xid 95 0000:4c:00.0 pid=7 unit=LTC TAG reset_required=yes drain_and_reset=no"},
      {"NVRM: Xid (PCI:0000:4c:00): 63, pid=1, ParsedRow Remapper: New row marked for remapping, "
       "reset "
       "gpu to activate.",
       "xid 63 0000:4c:00.0 pid=1 mechanism=row_remap"},
      {"XID 64 Dynamic Page Retirement: Fatal error, unable to retire page (0x00000005d28c03a0)",
       "xid 64 mechanism=page_retirement"},
      {"XID 48 An uncorrectable double bit error (DBE) has been detected on GPU (0)", "xid 48"},
      {"NVRM: Xid (PCI:0000:4c:00): 12345678, x", ""},
      {"NVRM: Xid (PCI:0000:4c:00): 0, x", ""},
  });
}

TEST(XidLine, HasTheRegistersOfALinkAndTheWordsOfNvlink5) {
  expect_rows({
      {"NVRM: Xid (PCI:0000:4c:00): 74, pid=1, name=x, NVLink: fatal error detected on link "
       "14(0x0, 0x0, 0x10000, "
       "0x0, 0x0, 0x0, 0x0)",
       "xid 74 0000:4c:00.0 pid=1 process=x link=14 registers=0x0 0x0 0x10000 0x0 0x0 0x0 0x0"},
      {"NVRM: Xid (PCI:0009:01:00): 145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 10 (0x04082907 "
       "0x00000008 0x0 0x0 0x0 "
       "0x0 [0x0])",
       "xid 145 0009:01:00.0 unit=RLW_SRC_TRACK severity=nonfatal cross_contain=1 injected=0 "
       "link=10 "
       "intr_info=0x04082907 error_status=0x00000008 debug=0x0 0x0 0x0 0x0 0x0"},
      {"NVRM: Xid (PCI:0009:01:00): 149, pid=2, name=y, NETIR_LINK_EVT Fatal XC0 i0 Link -1 "
       "(0x004505c6 0x00000000)",
       "xid 149 0009:01:00.0 pid=2 process=y unit=NETIR_LINK_EVT severity=fatal cross_contain=0 "
       "injected=0 link=-1 "
       "intr_info=0x004505c6 error_status=0x00000000"},
      {"NVRM: Xid (PCI:0000:1b:00): 136, NVLink: Link training failed for link 5(0x1, x7)",
       "xid 136 0000:1b:00.0 link=5 registers=0x1 x7"},
  });
}

TEST(XidLine, OfARecoveryActionIsKnownByItsNumber) {
  expect_rows({
      {"NVRM: Xid (PCI:0000:4c:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU "
       "Reset Required)",
       "xid 154 0000:4c:00.0 recovery_from_value=0 recovery_from=None recovery_to_value=1 "
       "recovery_to=GPU Reset Required"},
      {"NVRM: Xid (PCI:0000:4c:00): 154, pid=3, name=z, a text of another branch",
       "xid 154 0000:4c:00.0 pid=3 process=z"},
  });
}

TEST(XidLine, OfAnRpcTimeoutSaysWhichCall) {
  expect_rows(
      {{"NVRM: Xid (PCI:0000:4c:00): 119, pid=2024380, name=nvidia-smi, Timeout after 6s of "
        "waiting for RPC "
        "response from GPU4 GSP! Expected function 103 (GSP_RM_ALLOC) (0x2081 0x4).",
        "xid 119 0000:4c:00.0 pid=2024380 process=nvidia-smi waited_seconds=6 rpc=103 "
        "rpc_name=GSP_RM_ALLOC"}});
}

TEST(XidLine, ThatWasCutHasNoNumberThatMayBeWrong) {
  expect_rows({
      {"NVRM: Xid (PCI:0000:3b:00): 7", "xid 0000:3b:00.0"},
      {"NVRM: Xid (PCI:0000:3b:00):", "xid 0000:3b:00.0"},
      {"NVRM: Xid (PCI:0000:3b:00)", "xid 0000:3b:00.0"},
      {"NVRM: Xid (PCI:0000:3b", ""},
      {"M: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", "xid 79 0000:3b:00.0"},
      {"Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", "xid 79 0000:3b:00.0"},
  });
}

TEST(XidLine, IsFoundWhereItRanIntoAnotherOne) {
  EXPECT_EQ(read_lines({"usb 1-1: new high-spe[  123.456789] NVRM: Xid (PCI:0000:3b:00): 79, GPU "
                        "has fallen off the "
                        "bus.[  123.456790] NVRM: Xid (PCI:0000:3b:00): 45, pid=1, x"}),
            "xid 79 0000:3b:00.0; xid 45 0000:3b:00.0 pid=1");
  EXPECT_EQ(read_lines({"NVRM: Xid (PCI:0000:3b:00): 43, pid=1, Ch 8NVRM: Xid (PCI:0000:3c:00): "
                        "31, pid=2, Ch 9"},
                       false),
            "xid 43 0000:3b:00.0 pid=1; xid 31 0000:3c:00.0 pid=2");
}

TEST(XidLine, IsNoEventWhereTextOnlyTalksOfIt) {
  expect_rows({
      {"If you see NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus, reboot", ""},
      {"NVRM: Xid (PCI:<bus>): <number>, <text>", ""},
      {"NVRM: Xid 79, GPU has fallen off", ""},
      {"> NVRM: Xid (PCI:0000:3b:00): 79, quoted", ""},
      {"Xid 79 means that the GPU has fallen off the bus", ""},
      {"XID 63 and XID 64 are about row remapping", ""},
      {"CUDA out of memory. Tried to allocate 2.00 GiB", ""},
      {"torch.cuda.OutOfMemoryError: Out of memory: tried to allocate", ""},
  });
  EXPECT_EQ(
      read_lines({"NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."}, false, "python3"),
      "");
  EXPECT_EQ(read_lines({"see [  123.456789] NVRM: Xid (PCI:0000:3b:00): 79, x"}, false, ""), "");
}

TEST(XidLine, NamesTheCardThatTheDriverNamedBefore) {
  EXPECT_EQ(
      read_lines({"NVRM: GPU at PCI:0000:00:06: GPU-000000a0-0000-4000-8000-000000000001",
                  "NVRM: GPU Board Serial Number: 1650000000001",
                  "NVRM: Xid (PCI:0000:00:06): 43, pid=1281, name=xid, channel 0x0000000a"}),
      "xid 43 0000:00:06.0 pid=1281 process=xid uuid=GPU-000000a0-0000-4000-8000-000000000001 "
      "serial=1650000000001");
}

TEST(SxidLine, IsReadWithAndWithoutALink) {
  expect_rows({
      {"nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted "
       "PRIV error (First)",
       "sxid 12028 0000:05:00.0 switch=3 severity=nonfatal link=32 first=yes"},
      {"nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
       "sxid 20034 0000:05:00.0 switch=0 severity=fatal link=30"},
      {"nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 10001, Non-fatal, PRI WRITE SYS error, "
       "instance=1, chiplet=2",
       "sxid 10001 0000:05:00.0 switch=0 severity=nonfatal instance=1 chiplet=2"},
      {"nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 19049, Correctable, Link 1 x",
       "sxid 19049 0000:05:00.0 switch=0 severity=correctable link=1"},
      {"nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 1204", "sxid 0000:05:00.0 switch=0"},
      {"nvidia-nvswitch0: open (major=510)", ""},
  });
}

TEST(SxidLine, ThatGoesOnWithTheOneBeforeIsNoEventOfItsOwn) {
  const std::string first = "nvidia-nvswitch2: SXid (PCI:0000:06:00.0): 10002, Non-fatal, x";
  const std::string more =
      "nvidia-nvswitch2: SXid (PCI:0000:06:00.0): 10002, Severity 5 Engine instance 00 Sub-engine "
      "instance 00";
  const std::string data =
      "nvidia-nvswitch2: SXid (PCI:0000:06:00.0): 10002, Data {0x00000000, 0x00000001}";
  EXPECT_EQ(read_lines({first, more, data}), "sxid 10002 0000:06:00.0 switch=2 severity=nonfatal");
  EXPECT_EQ(read_lines({more, data}), "sxid 10002 0000:06:00.0 switch=2 continuation=yes")
      << "a log that begins in the middle still tells of it, once";
}

TEST(DriverLine, WithoutANumberMeansTheSame) {
  expect_rows({
      {"NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.", "nvrm off_bus 0000:18:00.0"},
      {"NVRM: GPU at PCI:0000:18:00 has fallen off the bus.", "nvrm off_bus 0000:18:00.0"},
      {"NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0x65:1185)",
       "nvrm init_failed 0000:3b:00.0 init_codes=0x24:0x65:1185"},
      {"NVRM: GPU 0000:3b:00.0: rm_init_adapter failed, device minor number 0",
       "nvrm init_failed 0000:3b:00.0"},
      {"NVRM: GPU0 RmInitAdapter: Cannot initialize GSP firmware RM",
       "nvrm gsp_init_failed driver_gpu=0"},
      {"NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] "
       "(0x00000062) returned "
       "from status @ kernel_channel.c:2874",
       "nvrm reset_required"},
      {"NVRM: GPU0 _kgspIsHeartbeatTimedOut: Heartbeat timed out, currentTimeMs 322227881 "
       "heartbeat 0",
       "nvrm gsp_heartbeat driver_gpu=0"},
      {"NVRM: _kgspRpcRecvPoll: GSP RM heartbeat timed out", "nvrm gsp_heartbeat"},
      {"NVRM: An uncorrectable ECC error has been detected on GPU in GSP-RISCV location 3",
       "ecc gpu_ecc_uncorrected"},
      {"NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  ()",
       ""},
      {"NVRM: Persistence mode is deprecated and will be removed in a future release.", ""},
  });
}

TEST(DriverLine, AboutACardThatDoesNotAnswerIsOneEventInOneRecordOrThree) {
  const std::string one = "NVRM: The NVIDIA GPU 0000:b3:00.0";
  const std::string two = "NVRM: (PCI ID: 10de:26b5) installed in this system has";
  const std::string three = "NVRM: fallen off the bus and is not responding to commands.";
  EXPECT_EQ(read_lines({one, two, three}), "nvrm off_bus 0000:b3:00.0");
  EXPECT_EQ(read_lines({one + "\n" + two + "\n" + three}), "nvrm off_bus 0000:b3:00.0");
}

TEST(BusLine, OfAerNamesTheDeviceAtFault) {
  expect_rows({
      {"pcieport 0000:00:1d.0: AER: Corrected error received: 0000:3b:00.0",
       "aer aer_corrected 0000:3b:00.0 driver=pcieport reported_by=root_port"},
      {"pcieport 0000:00:1d.0: AER: Multiple Uncorrectable (Fatal) error message received from "
       "0000:3b:00.0",
       "aer aer_fatal 0000:3b:00.0 driver=pcieport reported_by=root_port"},
      {"nvidia 0000:3b:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver "
       "ID)",
       "aer aer_corrected 0000:3b:00.0 driver=nvidia layer=Physical Layer"},
      {"nvidia 0000:3b:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction "
       "Layer, (Requester "
       "ID)",
       "aer aer_nonfatal 0000:3b:00.0 driver=nvidia layer=Transaction Layer"},
      {"pcieport 0000:00:1d.0: AER: enabled with IRQ 122", ""},
      {"pcieport 0000:00:01.1: pciehp: Slot(0): Link Down",
       "link pcie_link_down 0000:00:01.1 driver=pcieport slot=0"},
      {"pcieport 0000:00:01.1: pciehp: Slot(0): Card not present",
       "link pcie_card_gone 0000:00:01.1 driver=pcieport slot=0"},
      {"pcieport 0000:00:01.1: pciehp: Slot(0): Link Up", ""},
      {"EDAC MC0: 1 UE on DIMM_0_CH0 (mc:0 page:0x00012ab)",
       "ecc host_memory_uncorrected controller=0 count=1"},
      {"EDAC MC3: 2 CE memory read error on CPU_SrcID#0",
       "ecc host_memory_corrected controller=3 count=2"},
      {"EDAC MC0: Giving out device to module skx_edac", ""},
  });
}

TEST(NicLine, TellsACableFromADeadCard) {
  expect_rows({
      {"mlx5_core 0000:63:00.1: Port module event: module 1, Cable unplugged",
       "link nic_cable_unplugged 0000:63:00.1 module=1"},
      {"mlx5_core 0000:63:00.1: Port module event[error]: module 0, Cable error, Bus stuck",
       "link nic_module_error 0000:63:00.1 module=0"},
      {"mlx5_core 0000:41:00.0: poll_health:852:(pid 0): device's health compromised - reached "
       "miss count",
       "link nic_health 0000:41:00.0"},
      {"mlx5_core 0000:5c:00.0: mlx5_pcie_event:299:(pid 268269): Detected insufficient power on "
       "the PCIe slot (27W).",
       "link nic_slot_power 0000:5c:00.0"},
      {"mlx5_core 0000:08:00.0 eth2: Link down", "link nic_link_down 0000:08:00.0 interface=eth2"},
      {"NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 3 timed out",
       "link nic_transmit_timeout interface=eth0"},
      {"mlx5_core 0000:63:00.1: Port module event: module 1, Cable plugged", ""},
      {"mlx5_core 0000:08:00.0 eth2: Link up", ""},
  });
}

TEST(OomLine, SaysWhetherACgroupOrTheHostWasFullAndWithWhichProof) {
  EXPECT_EQ(
      read_lines({"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/"
                  ",mems_allowed=0,oom_memcg=/kube/"
                  "pod1,task_memcg=/kube/pod1/c,task=python3,pid=23793,uid=0",
                  "Memory cgroup out of memory: Killed process 23793 (python3) total-vm:2623712kB, "
                  "anon-rss:506500kB, file-rss:1268kB"}),
      "oom cgroup_oom pid=23793 process=python3 total_vm_kib=2623712 anon_rss_kib=506500 "
      "constraint=CONSTRAINT_MEMCG cgroup=/kube/pod1");
  expect_rows({
      {"Out of memory: Killed process 77 (a (b) c) total-vm:1kB, anon-rss:1kB",
       "oom host_oom pid=77 process=a (b) c total_vm_kib=1 anon_rss_kib=1"},
      {"Out of memory: Kill process 77 (java) score 900 or sacrifice child",
       "oom host_oom pid=77 process=java"},
      {"Killed process 77 (java) total-vm:1kB", ""},
  });
}

TEST(ServiceLine, IsReadFromTheServiceThatSaidIt) {
  const auto fabric = [](const std::string& text) {
    return read_lines({text}, false, "nv-fabricmanager");
  };
  EXPECT_EQ(fabric("fabric manager NVIDIA GPU driver interface version 570.211.01 don't match with "
                   "driver version "
                   "570.133.20. Please update with matching NVIDIA driver package."),
            "service fabric_manager_version service=nvidia-fabricmanager");
  EXPECT_EQ(fabric("[May 16 2025 15:10:21] [ERROR] [tid 30042] detected NVSwitch fatal error"),
            "service fabric_manager_error service=nvidia-fabricmanager");
  EXPECT_EQ(fabric("[May 16 2025 15:10:21] [INFO] [tid 30042] GPU probe request received"), "");
  EXPECT_EQ(read_lines({"nvidia-fabricmanager.service: Failed with result 'exit-code'."}, false,
                       "systemd"),
            "service unit_failed service=nvidia-fabricmanager result=exit-code");
  EXPECT_EQ(read_lines({"ssh.service: Failed with result 'exit-code'."}, false, "systemd"), "");
}

}  // namespace
}  // namespace stoker::event
