#include "lint/env/environment.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "lint/env/env_text.h"

namespace stoker::lint {
namespace {

// "rule NAME" of each finding of assignments between blanks or new lines.
std::multiset<std::string> said(std::string_view text, EnvContext context = {}) {
  if (context.reader == EnvReader::environment) context.reader = EnvReader::list;
  std::multiset<std::string> out;
  const auto variables = read_environment_text(text, "env", context.reader);
  for (const auto& finding : lint_environment(variables, context)) {
    out.insert(finding.rule + " " +
               finding.evidence.front().substr(0, finding.evidence.front().find('=')));
  }
  return out;
}

using Said = std::multiset<std::string>;
constexpr NcclVersion v2_18{.major = 2, .minor = 18};
constexpr NcclVersion v2_20{.major = 2, .minor = 20};
constexpr NcclVersion v2_27{.major = 2, .minor = 27};

TEST(Environment, OfACarefulJobIsLeftAlone) {
  EXPECT_EQ(said("NCCL_DEBUG=WARN\nNCCL_SOCKET_IFNAME=eth0\nNCCL_IB_HCA==mlx5_0,mlx5_1\n"
                 "NCCL_IB_TIMEOUT=22\nNCCL_IB_QPS_PER_CONNECTION=4\nNCCL_CROSS_NIC=0\n"
                 "TORCH_NCCL_ASYNC_ERROR_HANDLING=1\nTORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=1800\n"
                 "GLOO_SOCKET_IFNAME=eth0,eth1\nNCCL_ALGO=Ring,Tree\nNCCL_PROTO=Simple\n"
                 "NCCL_BUFFSIZE=8388608\nCUDA_LAUNCH_BLOCKING=0\nPATH=/bin\nHOME=/root\n"
                 "NCCL_FASTRAK_CTRL_DEV=eth0\nNCCL_VERSION=2.21.5-1\nNCCL_P2P_DISABLE=0\n"
                 "NCCL_OOB_NET_IFNAME=^docker,lo\nNCCL_NET_GDR_LEVEL=PHB\nNCCL_IB_DISABLE=0\n"),
            Said{});
}

TEST(Environment, ANameThatIsNearlyRightIsToldTheRightOne) {
  const auto variables = read_environment_text("NCCL_IB_TIME_OUT=22", "e", EnvReader::list);
  const auto findings = lint_environment(variables);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "nccl-misspelt");
  EXPECT_NE(findings[0].message.find("NCCL_IB_TIMEOUT"), std::string::npos) << findings[0].message;
  EXPECT_EQ(findings[0].location->line, 1);
  EXPECT_EQ(said("NCCL_SOCKET_IFNAMES=eth0"), (Said{"nccl-misspelt NCCL_SOCKET_IFNAMES"}));
  EXPECT_EQ(said("NCCL_OUR_OWN_THING=1"), (Said{"nccl-unknown NCCL_OUR_OWN_THING"}));
  EXPECT_EQ(said("NCCL_NET_GDR_PLUGIN=1"), (Said{"nccl-unknown NCCL_NET_GDR_PLUGIN"}))
      << "a plugin's, whose name is merely like others";
  EXPECT_EQ(said("NCCL_TEST=0"), (Said{"nccl-unknown NCCL_TEST"}))
      << "of a short name two letters are half of it";
  EXPECT_EQ(said("NCCL_DEBG=WARN"), (Said{"nccl-misspelt NCCL_DEBG"}));
  EXPECT_EQ(said("NCCL_TIMEOUT=1800"), (Said{"nccl-not-read NCCL_TIMEOUT"}));
  EXPECT_EQ(said("CUDA_MPS_PIPE_DIR=/tmp/mps"), (Said{"nccl-not-read CUDA_MPS_PIPE_DIR"}));
  EXPECT_EQ(said("NCCL_ASYNC_ERROR_HANDLING=1"), (Said{"torch-renamed NCCL_ASYNC_ERROR_HANDLING"}));
}

TEST(Environment, ANameIsJudgedByTheReleaseOfNccl) {
  EXPECT_EQ(said("NCCL_IB_CUDA_SUPPORT=1"), (Said{"nccl-removed NCCL_IB_CUDA_SUPPORT"}));
  EXPECT_EQ(said("NCCL_TREE_THRESHOLD=0"), (Said{"nccl-removed NCCL_TREE_THRESHOLD"}));
  EXPECT_EQ(said("NCCL_WORK_FIFO_DEPTH=65536"), Said{}) << "an NCCL of 2023 reads it";
  EXPECT_EQ(said("NCCL_WORK_FIFO_DEPTH=65536", {.nccl = v2_27}),
            (Said{"nccl-removed NCCL_WORK_FIFO_DEPTH"}));
  EXPECT_EQ(said("NCCL_IB_ROCE_VERSION_NUM=2"), Said{});
  EXPECT_EQ(said("NCCL_IB_ROCE_VERSION_NUM=2", {.nccl = v2_20}),
            (Said{"nccl-not-yet NCCL_IB_ROCE_VERSION_NUM"}));
  EXPECT_EQ(said("NCCL_IB_GID_INDEX=3", {.nccl = v2_20}), Said{}) << "2.20 does not look itself";
  EXPECT_EQ(said("NCCL_IB_GID_INDEX=3", {.nccl = v2_27}),
            (Said{"nccl-gid-index NCCL_IB_GID_INDEX"}));
}

TEST(Environment, AValueIsReadAsNcclAndTorchReadIt) {
  const auto variables = read_environment_text("NCCL_BUFFSIZE=4M", "e", EnvReader::list);
  EXPECT_NE(lint_environment(variables).at(0).message.find("as the number 4"), std::string::npos);
  EXPECT_EQ(said("NCCL_IB_DISABLE=true"), (Said{"nccl-not-a-number NCCL_IB_DISABLE"}));
  EXPECT_EQ(said("NCCL_IB_RETRY_CNT=13"), (Said{"nccl-value NCCL_IB_RETRY_CNT"}));
  EXPECT_EQ(said("NCCL_BUFFSIZE=0x400000"), Said{});
  EXPECT_EQ(said("NCCL_IB_TIMEOUT=32"), (Said{"nccl-ib-timeout NCCL_IB_TIMEOUT"}));
  EXPECT_EQ(said("NCCL_DEBUG=DEBUG"), (Said{"nccl-value NCCL_DEBUG"}));
  EXPECT_EQ(said("NCCL_DEBUG=warn"), Said{}) << "NCCL does not mind the case of a level";
  EXPECT_EQ(said("NCCL_DEBUG_SUBSYS=INIT,NETWORK"), (Said{"nccl-value NCCL_DEBUG_SUBSYS"}));
  EXPECT_EQ(said("NCCL_P2P_LEVEL=nvl"), (Said{"nccl-value NCCL_P2P_LEVEL"})) << "but of a distance";
  EXPECT_EQ(said("NCCL_P2P_LEVEL=NVL"), Said{});
  EXPECT_EQ(said("TORCH_NCCL_BLOCKING_WAIT=on"), (Said{"torch-value TORCH_NCCL_BLOCKING_WAIT"}));
  EXPECT_EQ(said("TORCH_NCCL_BLOCKING_WAIT=True"), Said{});
  EXPECT_EQ(said("TORCH_NCCL_ASYNC_ERROR_HANDLING=true"),
            (Said{"torch-value TORCH_NCCL_ASYNC_ERROR_HANDLING"}));
  EXPECT_EQ(
      said("NCCL_IB_TIMEOUT=$TIMEOUT\nNCCL_P2P_LEVEL={{ .Values.level }}\nNCCL_IB_HCA=<your hca>"),
      Said{})
      << "somebody fills these in";
}

TEST(Environment, AnAlgorithmHasToBeOneOfThatRelease) {
  EXPECT_EQ(said("NCCL_ALGO=Ringg"), (Said{"nccl-algo-unknown NCCL_ALGO"}));
  EXPECT_EQ(said("NCCL_ALGO=Ring, Tree"), Said{}) << "a shell ends the value at the blank";
  EXPECT_EQ(said("NCCL_ALGO=\"Ring, Tree\""), (Said{"nccl-algo-unknown NCCL_ALGO"}));
  EXPECT_EQ(said("NCCL_ALGO=CollNet", {.nccl = v2_18}), (Said{"nccl-algo-unknown NCCL_ALGO"}));
  EXPECT_EQ(said("NCCL_ALGO=PAT", {.nccl = v2_18}), (Said{"nccl-algo-unknown NCCL_ALGO"}));
  EXPECT_EQ(said("NCCL_ALGO=allreduce:ring;broadcast:^tree", {.nccl = v2_27}), Said{});
  EXPECT_EQ(said("NCCL_ALGO=allreduce:ring", {.nccl = v2_20}),
            (Said{"nccl-algo-unknown NCCL_ALGO"}));
  EXPECT_EQ(said("NCCL_PROTO=LL128"), (Said{"nccl-proto-ll128 NCCL_PROTO"}));
  EXPECT_EQ(said("NCCL_PROTO=^LL128"), Said{});
}

TEST(Environment, AListMatchesOnlyWhatItSaysLetterByLetter) {
  EXPECT_EQ(said("NCCL_IB_HCA=\"mlx5_6:1, mlx5_11:1\""), (Said{"nccl-list-blank NCCL_IB_HCA"}));
  EXPECT_EQ(said("NCCL_IB_HCA=mlx5_0,=mlx5_3"), (Said{"nccl-list-syntax NCCL_IB_HCA"}));
  EXPECT_EQ(said("NCCL_IB_HCA==^mlx5_3"), (Said{"nccl-list-syntax NCCL_IB_HCA"}));
  EXPECT_EQ(said("NCCL_IB_HCA=^=mlx5_3"), Said{});
  EXPECT_EQ(said("NCCL_IB_HCA=mlx5_0:one"), (Said{"nccl-list-syntax NCCL_IB_HCA"}));
  EXPECT_EQ(said("NCCL_IB_HCA=mlx5_0,mlx5_1"), (Said{"nccl-hca-prefix NCCL_IB_HCA"}));
  EXPECT_EQ(said("NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_10"), Said{}) << "its owner knows";
  EXPECT_EQ(said("NCCL_IB_HCA=mlx5"), Said{});
  EXPECT_EQ(said("GLOO_SOCKET_IFNAME=^lo"), (Said{"gloo-interface GLOO_SOCKET_IFNAME"}));
}

TEST(Environment, AnInterfaceThatLeadsNowhereIsWrongForAJobOfSeveralHosts) {
  const auto severity = [](const char* text, std::optional<bool> several_hosts) {
    const auto findings = lint_environment(read_environment_text(text, "e", EnvReader::list),
                                           {.several_hosts = several_hosts});
    return findings.empty() ? "none" : to_string(findings[0].severity);
  };
  EXPECT_STREQ(severity("NCCL_SOCKET_IFNAME=lo", true), "warning");
  EXPECT_STREQ(severity("NCCL_SOCKET_IFNAME=lo", std::nullopt), "info");
  EXPECT_STREQ(severity("NCCL_SOCKET_IFNAME=lo", false), "none");
  EXPECT_STREQ(severity("NCCL_SOCKET_IFNAME=docker0", true), "warning");
  EXPECT_STREQ(severity("NCCL_SOCKET_IFNAME=^docker0", true), "warning") << "lo stays in";
  EXPECT_STREQ(severity("NCCL_SOCKET_IFNAME=^docker0,lo", true), "none");
  EXPECT_STREQ(severity("NCCL_SOCKET_IFNAME=eth,ens", true), "none");
}

TEST(Environment, WhatIsLeftOverFromDebuggingIsNamed) {
  EXPECT_EQ(said("NCCL_DEBUG=TRACE"), (Said{"nccl-debug-trace NCCL_DEBUG"}));
  EXPECT_EQ(said("NCCL_DEBUG=INFO"), (Said{"nccl-debug-info NCCL_DEBUG"}));
  EXPECT_EQ(said("NCCL_P2P_DISABLE=1\nNCCL_SHM_DISABLE=1\nNCCL_IB_DISABLE=1\nNCCL_NVLS_ENABLE=0"),
            (Said{"nccl-transport-off NCCL_P2P_DISABLE", "nccl-transport-off NCCL_SHM_DISABLE",
                  "nccl-network-off NCCL_IB_DISABLE", "nccl-network-off NCCL_NVLS_ENABLE"}));
  EXPECT_EQ(said("CUDA_LAUNCH_BLOCKING=1"), (Said{"cuda-launch-blocking CUDA_LAUNCH_BLOCKING"}));
  EXPECT_EQ(said("TORCH_NCCL_ENABLE_MONITORING=0"),
            (Said{"torch-watchdog-off TORCH_NCCL_ENABLE_MONITORING"}));
}

TEST(Environment, SettingsThatContradictEachOtherAreToldTogether) {
  EXPECT_EQ(said("NCCL_IB_DISABLE=1\nNCCL_IB_HCA=mlx5_0"),
            (Said{"nccl-network-off NCCL_IB_DISABLE", "nccl-no-effect NCCL_IB_HCA"}));
  EXPECT_EQ(said("NCCL_P2P_DISABLE=1\nNCCL_P2P_LEVEL=NVL"),
            (Said{"nccl-transport-off NCCL_P2P_DISABLE", "nccl-no-effect NCCL_P2P_LEVEL"}));
  EXPECT_EQ(said("NCCL_IB_GID_INDEX=3\nNCCL_IB_ROCE_VERSION_NUM=2", {.nccl = v2_27}),
            (Said{"nccl-gid-index NCCL_IB_GID_INDEX", "nccl-no-effect NCCL_IB_ROCE_VERSION_NUM"}));
  EXPECT_EQ(said("NCCL_MIN_NCHANNELS=32\nNCCL_MAX_NCHANNELS=16"),
            (Said{"nccl-contradiction NCCL_MIN_NCHANNELS"}));
  EXPECT_EQ(said("NCCL_SOCKET_NTHREADS=16\nNCCL_NSOCKS_PERTHREAD=8"),
            (Said{"nccl-contradiction NCCL_NSOCKS_PERTHREAD"}));
  EXPECT_EQ(said("NCCL_SOCKET_NTHREADS=8\nNCCL_NSOCKS_PERTHREAD=8"), Said{});
}

TEST(Environment, NcclsOwnFileKeepsBlanksAndTheFirstOfTwo) {
  const EnvContext conf{.reader = EnvReader::nccl_conf};
  EXPECT_EQ(said("NCCL_SOCKET_IFNAME==ens1f0\n# NCCL_DEBUG = INFO\n", conf), Said{});
  EXPECT_EQ(said("NCCL_IB_TIMEOUT = 22", conf), (Said{"nccl-conf-syntax NCCL_IB_TIMEOUT "}));
  EXPECT_EQ(said("NCCL_DEBUG_FILE=\"/tmp/x\"", conf), (Said{"nccl-conf-syntax NCCL_DEBUG_FILE"}));
  const auto variables = read_environment_text("NCCL_CROSS_NIC=0\nNCCL_CROSS_NIC=1", "nccl.conf",
                                               EnvReader::nccl_conf);
  const auto findings = lint_environment(variables, conf);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "nccl-set-twice");
  EXPECT_NE(findings[0].message.find("the first one counts"), std::string::npos);
  EXPECT_EQ(said("NCCL_CROSS_NIC=0\nNCCL_CROSS_NIC=1", {.reader = EnvReader::script}), Said{})
      << "which line of a script runs is not known";
}

TEST(Environment, RanksThatDifferAreComparedByWhatHasToBeTheSame) {
  const auto read = [](const char* text) {
    return read_environment_text(text, "p", EnvReader::list);
  };
  const std::vector<std::vector<Variable>> processes = {
      read("NCCL_ALGO=Ring\nNCCL_IB_HCA=mlx5_0\nNCCL_PROTO=Simple"),
      read("NCCL_ALGO=Tree\nNCCL_IB_HCA=mlx5_4\nNCCL_PROTO=Simple"), read("PATH=/bin")};
  const auto findings = compare_environments(processes);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "nccl-differs");
  EXPECT_EQ(findings[0].evidence,
            (std::vector<std::string>{"1 of 2: NCCL_ALGO=Ring", "1 of 2: NCCL_ALGO=Tree"}));
  const std::vector<std::vector<Variable>> half = {read("NCCL_CROSS_NIC=0\nNCCL_ALGO=Ring"),
                                                   read("NCCL_ALGO=Ring")};
  EXPECT_EQ(compare_environments(half).at(0).evidence.back(), "1 of 2: not set");
}

TEST(Environment, EveryRuleHasATestAboveAndASource) {
  std::ifstream file(STOKER_SOURCE_DIR "/src/lint/env/environment_test.cpp");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const auto& rule : environment_rules()) {
    if (rule.id == "nccl-interface-local") continue;  // by its severity above
    EXPECT_NE(text.find('"' + std::string(rule.id)), std::string::npos) << rule.id;
    EXPECT_FALSE(rule.title.ends_with('.')) << rule.id;
    EXPECT_TRUE(rule.source.starts_with("https://")) << rule.id;
  }
}

TEST(KnownVariable, RowsStandOnceAndTheirReleasesAreInOrder) {
  std::set<std::string_view> seen;
  for (const auto name : variable_names()) {
    EXPECT_TRUE(seen.insert(name).second) << name;
    const auto* row = find_variable(name);
    const auto since = NcclVersion::parse(row->since);
    const auto until = NcclVersion::parse(row->until);
    if (since && until) {
      EXPECT_LT(*since, *until) << name;
    }
    EXPECT_EQ(row->since.empty(), !since) << name;
    EXPECT_EQ(find_other(name), nullptr) << name;
  }
  EXPECT_GT(seen.size(), 240U);
}

TEST(NcclVersion, IsReadAsPackagesWriteIt) {
  EXPECT_EQ(NcclVersion::parse("2.21.5+cuda12.4"), (NcclVersion{.major = 2, .minor = 21}));
  EXPECT_EQ(NcclVersion::parse("2.8"), (NcclVersion{.major = 2, .minor = 8}));
  EXPECT_EQ(NcclVersion::parse("2"), std::nullopt);
  EXPECT_EQ(NcclVersion::parse("two.one"), std::nullopt);
}

}  // namespace
}  // namespace stoker::lint
