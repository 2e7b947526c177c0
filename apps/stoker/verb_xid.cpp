// Verb `xid`: the GPU events that are in logs, whatever format they have.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "command_line.h"
#include "driver_flag.h"
#include "event/event_report.h"
#include "event/log_file.h"
#include "event/log_scan.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* xid_examples = R"(Examples:
  stoker xid scan /var/log/kern.log    which GPU faults does this log tell of?
  dmesg -T | stoker xid scan -         the running kernel's

Exit codes: 0 nothing found, 1 something found, 2 could not look.)";

constexpr const char* scan_examples = R"(Examples:
  stoker xid scan /var/log/kern.log* rotated and packed ones too (.gz, .zst)
  journalctl -k -b -1 -o export | stoker xid scan -
                                     the boot before this one
  stoker xid scan node-*.log -o jsonl | jq 'select(.level == "hardware")'
  stoker xid scan kern.log --driver 550.90.07
                                     read reused numbers as that driver meant them

Read are /dev/kmsg, dmesg in all its formats, journalctl (short, json, export, ...), syslog (RFC 3164 and
5424), logs of containers (CRI, Docker) and of Talos. Text that only talks about Xids is no event.
Exit codes: 0 nothing found, 1 something found, 2 a file could not be read, or not to its end.)";

struct ScanFlags {
  std::vector<std::string> files;
  std::string driver;
  Output output = Output::table;
};

// Prints events as they are found, so that memory does not grow with them.
class Printer {
 public:
  Printer(Output output, std::optional<DriverVersion> driver)
      : output_(output), driver_(std::move(driver)) {
    if (output_ == Output::json) fmt::print(R"({{"schema":"stoker.dev/v1/event","events":[)");
  }
  void print(const event::FoundEvent& found) {
    const auto judged = event::judge(found.event, driver_);
    if (output_ == Output::table) {
      fmt::print("{}", event::event_block(found, judged, table_style().width));
    } else {
      JsonWriter json;
      event::write_event(json, found, judged);
      const bool list = output_ == Output::json;
      fmt::print("{}{}{}", list && count_ > 0 ? "," : "", json.text(), list ? "" : "\n");
    }
    ++count_;
  }
  void finish(std::size_t files) const {
    if (output_ == Output::json) fmt::print("]}}\n");
    if (output_ != Output::table) return;
    fmt::print("{} event{} in {} file{}\n", count_ == 0 ? "no" : std::to_string(count_),
               count_ == 1 ? "" : "s", files, files == 1 ? "" : "s");
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  const Output output_;
  const std::optional<DriverVersion> driver_;
  std::uint64_t count_ = 0;
};

int scan(const ScanFlags& flags) {
  const auto driver = driver_of(flags.driver);
  if (!driver) return complain(driver.error().message());
  Printer printer(flags.output, *driver);
  bool all_read = true;
  for (const auto& file : flags.files) {
    event::LogScan scan(file, [&](event::FoundEvent&& found) { printer.print(found); });
    const auto read = event::read_log_file(file, [&](std::string_view bytes) { scan.add(bytes); });
    scan.finish();
    if (read) continue;
    all_read = false;
    complain(fmt::format("{}: {}", file, read.error().describe()));
  }
  printer.finish(flags.files.size());
  if (!all_read) return exit_could_not;
  return printer.count() > 0 ? exit_found : exit_nothing_wrong;
}

}  // namespace

void add_xid_verb(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand("xid", "Find GPU faults in logs");
  verb->require_subcommand(1);
  verb->footer(xid_examples);
  auto flags = std::make_shared<ScanFlags>();
  CLI::App* scanning = verb->add_subcommand("scan", "Find the GPU events of log files");
  scanning
      ->add_option("FILES", flags->files,
                   "Log files, packed by gzip or zstd or not; - is standard input")
      ->required();
  scanning
      ->add_option("--driver", flags->driver,
                   "Version of NVIDIA's driver that wrote the log, or its branch")
      ->type_name("VERSION");
  add_output_flag(*scanning, flags->output, "table|json|jsonl");
  scanning->footer(scan_examples);
  scanning->callback([flags, &exit_code] { exit_code = scan(*flags); });
}

}  // namespace stoker::app
