// What linting costs beside libfyaml's parsing of the same files: at most as much again. STOKER_LINT_FILES names a folder of
// manifests; otherwise those of tests/fixtures/lint are taken.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catalog/yaml/view.h"
#include "lint/kubernetes/lint.h"

namespace stoker::lint::kubernetes {
namespace {

std::vector<std::string> texts() {
  const char* named = std::getenv("STOKER_LINT_FILES");
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(
           named != nullptr ? named : STOKER_SOURCE_DIR "/tests/fixtures/lint")) {
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    out.push_back(std::move(text).str());
  }
  return out;
}

void parse_alone(benchmark::State& state) {
  const auto files = texts();
  for (auto _ : state) {
    for (const auto& text : files) {
      for (const auto& piece : yaml::pieces_of(text))
        benchmark::DoNotOptimize(yaml::Document::parse(piece, "f"));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(files.size()));
}
BENCHMARK(parse_alone);

void lint_files(benchmark::State& state) {
  const auto files = texts();
  for (auto _ : state) {
    for (const auto& text : files) benchmark::DoNotOptimize(lint_manifest(text, "f"));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(files.size()));
}
BENCHMARK(lint_files);

}  // namespace
}  // namespace stoker::lint::kubernetes
