// Test support: a journal's own file, made by systemd's systemd-journal-remote (package systemd-journal-remote) from what
// a test says.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace stoker::os {

// The journal of several boots, in the format of journalctl -o export.
class JournalText {
 public:
  static constexpr std::int64_t began = 1'700'000'000;  // second 0

  using Fields = std::vector<std::pair<std::string, std::string>>;
  // `second`: by the wall clock, after `began`; `up`: since that boot. `boot` without dashes.
  JournalText& say(std::int64_t second, std::int64_t up, const std::string& boot,
                   const Fields& fields) {
    text_ += fmt::format("__REALTIME_TIMESTAMP={}\n__MONOTONIC_TIMESTAMP={}\n_BOOT_ID={}\n",
                         (began + second) * 1'000'000, up * 1'000'000, boot);
    for (const auto& [name, value] : fields) text_ += fmt::format("{}={}\n", name, value);
    text_ += '\n';
    return *this;
  }
  // The kernel said it two seconds before journald read it.
  JournalText& kernel(std::int64_t second, std::int64_t up, const std::string& boot,
                      const std::string& message) {
    return say(second, up, boot,
               {{"_TRANSPORT", "kernel"},
                {"MESSAGE", message},
                {"_SOURCE_MONOTONIC_TIMESTAMP", std::to_string((up - 2) * 1'000'000)}});
  }
  // A program wrote it into /dev/kmsg: journald gives it the same transport, and its facility (1: user).
  JournalText& kernel_by_program(std::int64_t second, std::int64_t up, const std::string& boot,
                                 const std::string& message) {
    return say(second, up, boot,
               {{"_TRANSPORT", "kernel"}, {"SYSLOG_FACILITY", "1"}, {"MESSAGE", message}});
  }
  JournalText& systemd(std::int64_t second, std::int64_t up, const std::string& boot,
                       std::string_view message_id, const std::string& unit = "") {
    Fields fields = {{"_TRANSPORT", "journal"}, {"MESSAGE_ID", std::string(message_id)}};
    if (!unit.empty()) fields.emplace_back("UNIT", unit);
    return say(second, up, boot, fields);
  }

  // As a file in the folder of one machine below `journal` ("…/var/log/journal"). What is wrong; empty: nothing.
  [[nodiscard]] std::string write(const std::filesystem::path& journal) const {
    constexpr const char* program = "/lib/systemd/systemd-journal-remote";
    if (!std::filesystem::exists(program)) {
      return fmt::format("{} is not here: apt-get install systemd-journal-remote", program);
    }
    const auto folder = journal / "0123456789abcdef0123456789abcdef";
    std::filesystem::create_directories(folder);
    const auto entries = journal.parent_path() / "entries.export";
    std::ofstream(entries) << text_;
    const auto command = fmt::format("{} --output='{}' '{}' 2>/dev/null", program,
                                     (folder / "system.journal").string(), entries.string());
    const int code = std::system(command.c_str());  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
    return code == 0 ? std::string() : fmt::format("{} ended with {}", command, code);
  }

 private:
  std::string text_;
};

}  // namespace stoker::os
