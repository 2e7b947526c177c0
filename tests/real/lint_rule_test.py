"""docs/how-to-add-a-rule.md is true: doing what it says, in a copy of the source, adds its rule, and the rules' tests pass with it."""
import os
import re
import shutil
import subprocess

from harness import SOURCE_DIR, scratch


def do_what_the_page_says(source):
    page = (source / "docs/how-to-add-a-rule.md").read_text()
    steps = re.findall(r"^```diff\n(.*?)^```", page, re.M | re.S)
    assert len(steps) == 1, "the page has one worked example"
    done = subprocess.run(["patch", "-p1", "--no-backup-if-mismatch"], input=steps[0], cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"the page's diff no longer fits the source:\n{done.stdout}{done.stderr}"


def run(source, *argv):
    done = subprocess.run(argv, cwd=source, env=dict(os.environ, CCACHE_BASEDIR=str(source)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def main():
    with scratch() as folder:
        source = folder / "source"
        shutil.copytree(SOURCE_DIR, source, dirs_exist_ok=True, ignore=shutil.ignore_patterns("build", ".git"))
        do_what_the_page_says(source)
        run(source, "cmake", "--preset", "dev", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=8")
        run(source, "cmake", "--build", "build/dev", "--target", "lint_kubernetes_test")
        said = run(source, "build/dev/bin/lint_kubernetes_test", "--gtest_filter=Rules.*:Traps.*")
        assert "[  PASSED  ]" in said, said
        assert "grace-short" in (source / "src/lint/kubernetes/rules.def").read_text()
    print("the worked example of docs/how-to-add-a-rule.md adds its rule")


if __name__ == "__main__":
    main()
