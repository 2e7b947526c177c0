// stoker lint, end to end: what it prints, what it leaves out, and how it exits. Goldens: tests/golden/cli.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/golden.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

const std::string fixture = STOKER_SOURCE_DIR "/tests/fixtures/lint/server.yaml";

std::string linted(const std::string& text) {
  return replaced(text, STOKER_SOURCE_DIR "/tests/fixtures/lint/", "");
}

TEST(Lint, prints_findings_for_people_programs_and_build_servers) {
  const auto table = run_stoker({"lint", fixture});
  EXPECT_EQ(table.status, 1) << table.err;
  expect_golden("cli/lint.txt", linted(table.out));
  for (const auto* format : {"json", "junit", "github"}) {
    const auto out = run_stoker({"lint", fixture, "-o", format});
    EXPECT_EQ(out.status, 1) << out.err;
    expect_golden(std::string("cli/lint.") + format, linted(out.out));
  }
}

TEST(Lint, exits_by_the_least_severity_that_matters) {
  EXPECT_EQ(run_stoker({"lint", fixture, "--fail-on", "error"}).status, 1);
  const TempFolder folder;
  const auto clean =
      folder.write("clean.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: x}\n");
  EXPECT_EQ(run_stoker({"lint", clean}).status, 0);
  EXPECT_EQ(run_stoker({"lint", clean, "/no/such/file.yaml"}).status, 2);
  EXPECT_EQ(run_stoker({"lint"}).status, 2);
  EXPECT_EQ(run_stoker({"lint", clean, "-o", "xml"}).status, 2);
}

TEST(Lint, of_a_cluster_says_why_it_can_not_look) {
  const TempFolder folder;
  const auto said = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "lint");
    const auto done = run_stoker(arguments);
    EXPECT_EQ(done.status, 2) << done.out;
    return done.err;
  };
  const auto config =
      folder.write("config",
                   "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
                   "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n");
  EXPECT_NE(said({"--cluster", "--kubeconfig", config}).find("http://127.0.0.1:1"),
            std::string::npos);
  EXPECT_NE(said({"--cluster", "--kubeconfig", config, "--context", "production"})
                .find("no context 'production'; there is x"),
            std::string::npos);
  EXPECT_NE(said({"--cluster", "--kubeconfig", folder.path("none")}).find("none"),
            std::string::npos);
  EXPECT_NE(said({"--cluster", fixture}).find("either --cluster or"), std::string::npos);
  EXPECT_NE(said({"--cluster", "--fix"}).find("--fix is for files"), std::string::npos);
  EXPECT_NE(said({fixture, "--namespace", "ml"}).find("are about --cluster"), std::string::npos);
}

TEST(Lint, leaves_out_what_a_baseline_knows_and_nothing_else) {
  const TempFolder folder;
  const auto file = folder.write("server.yaml", read_text(fixture));
  const auto baseline = folder.path("lint.baseline");
  EXPECT_EQ(run_stoker({"lint", file, "--write-baseline", baseline}).status, 0);
  EXPECT_EQ(run_stoker({"lint", file, "--baseline", baseline}).status, 0);
  // What stands above moves no finding out of it.
  folder.write("server.yaml", "# a line more\n" + read_text(fixture));
  EXPECT_EQ(run_stoker({"lint", file, "--baseline", baseline}).status, 0);
  folder.write("server.yaml", replaced(read_text(fixture), "memory: 64Gi", "cpu: 1"));
  const auto more = run_stoker({"lint", file, "--baseline", baseline});
  EXPECT_EQ(more.status, 1);
  EXPECT_NE(more.out.find("memory-limit-missing"), std::string::npos) << more.out;
  EXPECT_NE(more.out.find("1 finding in"), std::string::npos) << more.out;
  EXPECT_EQ(run_stoker({"lint", file, "--baseline", file}).status, 2);
}

TEST(Lint, goes_by_a_config_and_refuses_rules_that_are_none) {
  const TempFolder folder;
  const auto config = folder.write("lint.yaml",
                                   "rules:\n  token-literal: off\n  gpu-requests-only: info\n  "
                                   "parallel-above-gpus: warning\nfail_on: error\n");
  const auto quiet = run_stoker({"lint", fixture, "--config", config});
  EXPECT_EQ(quiet.status, 0) << quiet.out;
  EXPECT_EQ(quiet.out.find("token-literal"), std::string::npos) << quiet.out;
  const auto wrong = folder.write("wrong.yaml", "rules:\n  token-literel: off\n");
  const auto refused = run_stoker({"lint", fixture, "--config", wrong});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("did you mean 'token-literal'"), std::string::npos) << refused.err;
}

TEST(Lint, leaves_out_what_comments_and_annotations_name) {
  const TempFolder folder;
  const auto text = read_text(fixture);
  const auto file = folder.write(
      "a.yaml", replaced(text, "  name: llm\n",
                         "  name: llm\n  annotations:\n    stoker.dev/lint-ignore: token-literal, "
                         "gpu-requests-only\n"
                         "    ignore-check.kube-linter.io/latest-tag: pinned by the registry\n"));
  const auto out = run_stoker({"lint", file});
  for (const auto* rule : {"token-literal", "gpu-requests-only", "image-latest"}) {
    EXPECT_EQ(out.out.find(rule), std::string::npos) << out.out;
  }
  EXPECT_NE(out.out.find("3 ignored"), std::string::npos) << out.out;
  folder.write("a.yaml", "# stoker-lint-ignore-document: all\n" + text);
  EXPECT_EQ(run_stoker({"lint", file}).status, 0);
}

TEST(Lint, prints_a_patch_that_repairs_and_that_patch_takes) {
  const TempFolder folder;
  const auto file = folder.write("server.yaml", read_text(fixture));
  const auto patch = run_stoker({"lint", file, "--fix"});
  folder.write("fix.patch", patch.out);
  const std::string command = "patch -s -d / -p1 < " + folder.path("fix.patch");
  EXPECT_EQ(std::system(command.c_str()), 0)
      << patch.out;  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
  const auto after = run_stoker({"lint", file});
  EXPECT_EQ(after.out.find("shm-unbounded"), std::string::npos) << after.out;
  EXPECT_EQ(after.out.find("gpu-requests-only"), std::string::npos) << after.out;
}

TEST(Lint, reads_a_shell_script_for_its_variables_alone) {
  const TempFolder folder;
  folder.write("launch.sh", "usage()\n{\n  echo \"a: [b\"\n}\ngrep -q '#SBATCH' x.sbatch\n");
  folder.write("start.sh",
               "#!/bin/bash\nNCCL_VER=2.25.1\nexport NCCL_ALGOO=Ring\npython train.py\n");
  const auto out = run_stoker({"lint", folder.path("")});
  EXPECT_EQ(out.out.find("manifest-broken"), std::string::npos) << out.out;
  EXPECT_NE(out.out.find("nccl-misspelt"), std::string::npos) << out.out;
  EXPECT_NE(out.out.find("1 finding in 2 files"), std::string::npos) << out.out;
}

TEST(Lint, does_not_read_a_template_of_slurms_files_as_one_of_them) {
  const TempFolder folder;
  const auto file = folder.write(
      "gres.conf", "{% for g in gpus %}\nName=gpu File=/dev/nvidia{{ g.index }}\n{% endfor %}\n");
  const auto out = run_stoker({"lint", file, "--all"});
  EXPECT_EQ(out.status, 0) << out.out;
  EXPECT_NE(out.out.find("template-not-read"), std::string::npos) << out.out;
}

TEST(Lint, explains_rules_and_lists_them) {
  const auto explained = run_stoker({"lint", "--explain", "shm-missing"});
  EXPECT_EQ(explained.status, 0);
  EXPECT_NE(explained.out.find("64 MiB"), std::string::npos) << explained.out;
  const auto unknown = run_stoker({"lint", "--explain", "shm-mising"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("did you mean 'shm-missing'"), std::string::npos) << unknown.err;
  EXPECT_NE(run_stoker({"lint", "--list-rules"}).out.find("\nshm-missing "), std::string::npos);
}

}  // namespace
}  // namespace stoker::test
