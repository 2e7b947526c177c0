// How fast a log without events is passed over, on one core. Text: lines of an ordinary syslog, made here, with the
// letters of the signs in them as often as real services have them.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "event/log_scan.h"
#include "event/sign_search.h"

namespace {

// About `size` bytes.
std::string ordinary_log(std::size_t size) {
  static constexpr std::array<const char*, 6> lines = {
      "systemd[1]: Started Session {0} of user root.",
      "sshd[{0}]: Accepted publickey for ops from 10.0.{1}.7 port 5{0} ssh2: ED25519 SHA256:x{0}",
      "kubelet[2211]: I0811 06:47:54.{0} 2211 reconciler.go:224] "
      "\"operationExecutor.VerifyControllerAttachedVolume\" pod=\"train-{1}\"",
      "containerd[1801]: time=\"2026-08-11T06:47:54Z\" level=info msg=\"RemoveContainer for "
      "\\\"{0}af\\\" returns successfully\"",
      "kernel: [{0}.123456] IPv6: ADDRCONF(NETDEV_CHANGE): veth{1}: link becomes ready",
      "python3[{0}]: step {0} loss 2.{1} tokens/s 123{1} memory 71.{1} GiB of 79.1 GiB",
  };
  std::string text;
  for (unsigned n = 0; text.size() < size; ++n) {
    text += fmt::format("Aug 11 06:{:02}:{:02} gpu-node-17 ", n / 60 % 60, n % 60);
    text += fmt::format(fmt::runtime(lines[n % lines.size()]), 10'000 + n % 50'000, n % 250);
    text += '\n';
  }
  return text;
}

void pass_over_ordinary_log(benchmark::State& state) {
  const auto text = ordinary_log(64U << 20U);
  for (auto _ : state) {
    auto found = stoker::event::find_sign(text);
    auto lines = stoker::event::count_lines(text);
    benchmark::DoNotOptimize(found);
    benchmark::DoNotOptimize(lines);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(pass_over_ordinary_log);

// The whole reader, in the pieces in which files are read.
void scan_ordinary_log(benchmark::State& state) {
  constexpr std::size_t piece = std::size_t{256} * 1024;
  const auto text = ordinary_log(64U << 20U);
  for (auto _ : state) {
    std::uint64_t found = 0;
    stoker::event::LogScan scan("log", [&](stoker::event::FoundEvent&&) { ++found; });
    for (std::size_t at = 0; at < text.size(); at += piece) {
      scan.add(std::string_view(text).substr(at, piece));
    }
    scan.finish();
    benchmark::DoNotOptimize(found);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(scan_ordinary_log);

// The same text from a file through ripgrep, where it is installed: wall time of the process, with one thread.
void ripgrep(benchmark::State& state) {
  if (std::system("command -v rg >/dev/null 2>&1") != 0) {  // NOLINT(cert-env33-c): a bench
    state.SkipWithError("ripgrep is not installed");
    return;
  }
  const auto path = std::filesystem::temp_directory_path() / "stoker_event_bench.log";
  const auto text = ordinary_log(64U << 20U);
  std::ofstream(path) << text;
  const auto command =
      fmt::format("rg -j1 --no-config -c 'NVRM: Xid|SXid' {} >/dev/null", path.string());
  for (auto _ : state)
    benchmark::DoNotOptimize(std::system(command.c_str()));  // NOLINT(cert-env33-c)
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  std::filesystem::remove(path);
}
BENCHMARK(ripgrep)->UseRealTime();

}  // namespace
