#include "lint/slurm/slurm.h"

#include <gtest/gtest.h>

#include <fstream>

#include "lint/slurm/slurm_conf.h"

namespace stoker::lint {
namespace {

using Said = std::vector<std::string>;

Said lines_of(const std::vector<Finding>& findings) {
  Said out;
  for (const auto& finding : findings) {
    out.push_back(std::to_string(finding.location->line) + ":" +
                  std::to_string(finding.location->column) + " " + finding.rule);
  }
  return out;
}

Said of_file(const std::string& name, std::string_view text) {
  const std::vector<SlurmFile> files = {{name, text}};
  return lines_of(lint_slurm_files(files));
}

Said of_script(const std::string& text) {
  return lines_of(lint_batch_script("#!/bin/bash\n" + text, "job.sh"));
}

TEST(SlurmConf, IsReadWithCommentsContinuationsAndKeysInAnyCase) {
  const auto lines = read_slurm_conf(
      "# c\nNodeName=a[1-4] \\\n  Gres=gpu:4 # four\n\nreason=\"two words\" X=1\n", "f");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(parameter_of(lines[0], "gres")->value, "gpu:4");
  EXPECT_EQ(parameter_of(lines[0], "gres")->place.line, 3);
  EXPECT_EQ(parameter_of(lines[0], "gres")->place.column, 3);
  EXPECT_EQ(parameter_of(lines[1], "reason")->value, "two words");
  EXPECT_EQ(parameter_of(lines[1], "x")->value, "1");
}

TEST(SlurmConf, LinesThatGoOnIntoNothingAreNone) {
  EXPECT_TRUE(read_slurm_conf("\\\n", "f").empty());
  EXPECT_EQ(read_slurm_conf("a=1 \\\n\nb=2\\", "f").size(), 2U);
}

TEST(SlurmConf, ListsAreCountedAndSpelledOut) {
  EXPECT_EQ(count_of_list("/dev/nvidia[0-3,7]"), 5U);
  EXPECT_EQ(count_of_list("/dev/nvidia0,/dev/nvidia1"), 2U);
  EXPECT_EQ(count_of_list("a[1-2]b[1-3]"), 6U);
  EXPECT_EQ(count_of_list("a[0-99999999999]"), 1'000'000U);
  EXPECT_EQ(names_of_list("n[08-10]"), (Said{"n08", "n09", "n10"}));
  EXPECT_EQ(names_of_list("n[18446744073709551615]"), (Said{"n18446744073709551615"}));
}

TEST(GresConf, ThatTheManualShowsIsLeftAlone) {
  EXPECT_EQ(of_file("/etc/slurm/gres.conf", R"(AutoDetect=nvml
Name=gpu Type=gp100 File=/dev/nvidia0 Cores=0,1
Name=gpu Type=gp100 File=/dev/nvidia1 Cores=0,1
Name=mps Count=200 File=/dev/nvidia0
Name=shard Count=16
NodeName=tux3 AutoDetect=off Name=gpu File=/dev/nvidia[0-3]
NodeName=tux[4-5] Name=gpu Type=a100 Count=8 File=/dev/nvidia[0-7] Flags=nvidia_gpu_env
Name=bandwidth Type=lustre Count=4M Flags=CountOnly
)"),
            Said{});
}

TEST(GresConf, WhatDoesNotHoldTogetherIsToldAtItsPlace) {
  EXPECT_EQ(of_file("gres.conf", R"(NodeName=a Name=gpu Count=8 File=/dev/nvidia[0-3]
NodeName=b Name=gpu Type=a100
NodeName=c Name=gpu File=/dev/nvidia0 MultipleFiles=/dev/nvidia1
NodeName=d Name=gpu Files=/dev/nvidia0 AutoDetect=nvlm
NodeName=e Name=gpu File=/dev/nvidia[0-1] Links=-1,16
NodeName=f AutoDetect=nvml Name=gpu
NodeName=f AutoDetect=nvidia Name=gpu
NodeName=g AutoDetect=nvidia Name=gpu Type=a100_3g.20gb
NodeName=h Name=gpu File=/dev/nvidia[0-3]
NodeName=h Name=gpu File=/dev/nvidia3
NodeName=i Name=gpu File=/dev/nvidia0 Flags=no_gpu_env,nvidia_gpu_env
)"),
            (Said{"1:21 slurm-gres-count", "2:1 slurm-gres-no-file", "3:39 slurm-gres-files",
                  "4:21 slurm-gres-key", "4:40 slurm-gres-autodetect", "5:43 slurm-gres-links",
                  "7:12 slurm-gres-autodetect-mixed", "8:1 slurm-gres-mig",
                  "10:21 slurm-gres-twice", "11:39 slurm-gres-flags"}));
}

TEST(SlurmConfFile, OfAClusterWithGpusThatIsRightIsLeftAlone) {
  EXPECT_EQ(of_file("slurm.conf", R"(GresTypes=gpu,shard
SelectType=select/cons_tres
TaskPlugin=task/cgroup,task/affinity
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageTRES=gres/gpu,gres/gpu:a100
DefMemPerGPU=64000
NodeName=a[1-4] Gres=gpu:a100:4(S:0-1),shard:16 CPUs=64
)"),
            Said{});
  EXPECT_EQ(of_file("slurm.conf", "SelectType=select/linear\nNodeName=c[1-9] CPUs=64\n"), Said{})
      << "no GPUs, no word";
}

TEST(SlurmConfFile, WhatKeepsGpusFromWorkIsTold) {
  EXPECT_EQ(of_file("slurm.conf", R"(SelectType=select/linear
AccountingStorageType=accounting_storage/slurmdbd
DefMemPerCPU=4000
DefMemPerGPU=64000
NodeName=a[1-4] Gres=gpu:a100:4
NodeName=b Gres=gpu:a100:2,gpu:2
GresTypes=shard
TaskPlugin=task/affinity
)"),
            (Said{"1:1 slurm-select", "2:1 slurm-tres", "4:1 slurm-def-mem", "5:17 slurm-grestypes",
                  "6:12 slurm-gres-typed", "8:1 slurm-task-plugin"}));
  EXPECT_EQ(of_file("slurm.conf", R"(GresTypes=gpu
TaskPlugin=task/cgroup
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageTRES=gres/gpu:a100
)"),
            (Said{"4:1 slurm-tres-typed"}));
}

TEST(SlurmFiles, AreJudgedTogetherWhereOneAloneDoesNotTell) {
  const std::vector<SlurmFile> files = {
      {"slurm.conf", "GresTypes=gpu\nTaskPlugin=task/cgroup\nNodeName=a[1-2] Gres=gpu:8\n"},
      {"gres.conf", "NodeName=a[1-2] Name=gpu File=/dev/nvidia[0-3]\n"},
      {"cgroup.conf", "ConstrainCores=yes\n"}};
  EXPECT_EQ(lines_of(lint_slurm_files(files)),
            (Said{"1:0 slurm-constrain-devices", "3:17 slurm-gres-differs"}));
  EXPECT_EQ(of_file("cgroup.conf", "ConstrainCores=yes\n"), Said{}) << "a cluster without GPUs";
}

TEST(BatchScript, ThatFitsIsLeftAlone) {
  EXPECT_EQ(of_script(R"(#SBATCH --job-name=train
#SBATCH -N 4
#SBATCH --ntasks-per-node=1 --gpus-per-node=h100:8
#SBATCH --cpus-per-task=96
#SBATCH --mem=0

# a comment
export NCCL_DEBUG=WARN
export CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7
srun torchrun --nnodes=4 --nproc_per_node=8 --rdzv_backend=c10d \
  --rdzv_endpoint=$HEAD:29500 train.py
)"),
            Said{});
  EXPECT_EQ(of_script("#SBATCH --nodes=2\n#SBATCH --gres=gpu:4\n#SBATCH --ntasks-per-node=4\n"
                      "srun python train.py\n"),
            Said{});
  EXPECT_EQ(of_script("#SBATCH --nodes=1\n#SBATCH --gres=gpu:4\n#SBATCH -c 32\n"
                      "torchrun --standalone --nproc_per_node=gpu train.py\n"),
            Said{});
}

TEST(BatchScript, OfATemplateOneBranchIsNotHeldAgainstAnother) {
  EXPECT_EQ(of_script("#SBATCH --job-name={{ name }}\n{# one or the\n   other #}\n{% if typed %}\n"
                      "#SBATCH --gres=gpu:a100:4\n{% else %}\n#SBATCH --gpus-per-node=4\n"
                      "{% endif %}\n#SBATCH --cpus-per-task=8\ntrue\n"),
            Said{});
  EXPECT_EQ(of_script("#SBATCH -N1 -c8 --gres=gpu:{{ n }}\ntrue\n#SBATCH --time=1\n"),
            (Said{"4:1 sbatch-late"}))
      << "a value that is filled in is no statement";
}

TEST(BatchScript, OptionsThatExcludeOneAnotherAreTold) {
  EXPECT_EQ(of_script(R"(#SBATCH --gres=gpu:4
#SBATCH --gpus-per-node=4
#SBATCH --mem=64G --mem-per-gpu=16G
#SBATCH -c 8 --cpus-per-gpu=8
#SBATCH --ntasks-per-gpu=1 --ntasks-per-node=4
true
#SBATCH --time=10:00
)"),
            (Said{"3:9 sbatch-gpus-and-gres", "4:19 sbatch-memory", "5:14 sbatch-cpus",
                  "6:28 sbatch-tasks-per-gpu", "8:1 sbatch-late"}));
  EXPECT_EQ(of_script("#SBATCH -N2 --gpus-per-task=1 --exclusive\n"),
            (Said{"2:13 sbatch-gpus-per-task"}));
  EXPECT_EQ(of_script("#SBATCH --gres=gpu:1\npython x.py\n"), (Said{"2:9 sbatch-one-cpu"}));
}

TEST(BatchScript, LaunchersHaveToFitWhatWasAskedFor) {
  const std::string two = "#SBATCH -N 2 --gpus-per-node=4 -c 8 --ntasks-per-node=1\n";
  EXPECT_EQ(of_script(two + "srun torchrun --nproc_per_node=8 --nnodes=2 x.py\n"),
            (Said{"3:1 sbatch-processes"}));
  EXPECT_EQ(of_script(two + "srun torchrun --nproc-per-node 2 --nnodes=$SLURM_NNODES x.py\n"),
            (Said{"3:1 sbatch-idle-gpus"}));
  EXPECT_EQ(of_script(two + "srun torchrun --nproc-per-node=4 --nnodes=4 x.py\n"),
            (Said{"3:1 sbatch-nnodes"}));
  EXPECT_EQ(of_script(two + "torchrun --nproc-per-node=4 --nnodes=2 x.py\n"),
            (Said{"3:1 sbatch-one-node"}));
  EXPECT_EQ(of_script("#SBATCH -N 2 --gpus-per-node=4 -c 8 --ntasks-per-node=4\n"
                      "srun python -m torch.distributed.run --nproc_per_node=4 x.py\n"),
            (Said{"3:1 sbatch-launcher-repeated"}));
  EXPECT_EQ(of_script(two + "export CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7\nsrun python x.py\n"),
            (Said{"3:8 sbatch-visible-devices"}));
}

TEST(BatchScript, OneThatWritesAnotherAndOneOfSeveralPartsAreNotBlamed) {
  EXPECT_EQ(of_script("cat > job <<EOF\n#SBATCH -N 2\nEOF\nsbatch job\n"), Said{});
  EXPECT_EQ(of_script("#SBATCH -t 5\ncat > job <<EOF\n#SBATCH -N 2\nEOF\nsbatch job\n"), Said{});
  EXPECT_EQ(
      of_script(
          "#SBATCH -c 8 --mem=5G\n#SBATCH hetjob\n#SBATCH --gres=gpu:4 --mem-per-gpu=8G\ntrue\n"),
      Said{});
}

TEST(BatchScript, WhatItSetsOfNcclIsJudgedToo) {
  EXPECT_EQ(of_script("#SBATCH -N 2 --gres=gpu:4 -c 8\nexport NCCL_SOCKET_IFNAME=lo\n"
                      "NCCL_IB_DISABLE=true srun python x.py\n"),
            (Said{"3:8 nccl-interface-local", "4:1 nccl-not-a-number"}));
}

TEST(SlurmFiles, AreKnownByNameAndScriptsByTheirDirectives) {
  EXPECT_EQ(slurm_file_kind("/etc/slurm/gres.conf", ""), SlurmFileKind::gres_conf);
  EXPECT_EQ(slurm_file_kind("x", "#!/bin/sh\n#SBATCH -N 1\n"), SlurmFileKind::batch_script);
  EXPECT_EQ(slurm_file_kind("x.sh", "#!/bin/sh\necho\n"), SlurmFileKind::none);
}

TEST(SlurmFiles, EveryRuleHasATestAndASource) {
  std::ifstream file(STOKER_SOURCE_DIR "/src/lint/slurm/slurm_test.cpp");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const auto& rule : slurm_rules()) {
    EXPECT_NE(text.find(' ' + std::string(rule.id) + '"'), std::string::npos) << rule.id;
    EXPECT_TRUE(rule.source.starts_with("https://")) << rule.id;
  }
}

}  // namespace
}  // namespace stoker::lint
