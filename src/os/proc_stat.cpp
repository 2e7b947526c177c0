#include "os/proc_stat.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace stoker::os {
namespace {

constexpr std::size_t stat_limit = 16384;  // stat is below 2 KiB

// proc(5): utime, stime, cutime, cstime.
constexpr int first_cpu_field = 14;
constexpr int last_cpu_field = 17;
constexpr int start_field = 22;

}  // namespace

std::string proc_file(std::uint32_t pid, std::string_view name) {
  return fmt::format("/proc/{}/{}", pid, name);
}

// Fields are counted from behind the last ')': field 2, the name, may contain anything.
Result<ProcStat> read_stat(const Env& env, std::uint32_t pid) {
  const auto text = env.read_file(proc_file(pid, "stat"), stat_limit);
  if (!text) return fail(text.error());
  const auto end = text->rfind(')');
  std::string_view rest = end == std::string::npos ? std::string_view() : *text;
  rest.remove_prefix(std::min(end + 1, rest.size()));
  ProcStat stat;
  for (int field = 3; field <= start_field; ++field) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::string_view word = rest.substr(0, rest.find_first_of(" \n"));
    rest.remove_prefix(word.size());
    if (field == 3 && !word.empty()) stat.state = word.front();
    if (field >= first_cpu_field && field <= last_cpu_field) {
      stat.cpu_ticks += whole_number<std::uint64_t>(word).value_or(0);
    }
    if (field != start_field) continue;
    if (const auto ticks = whole_number<std::uint64_t>(word)) {
      stat.start_ticks = *ticks;
      return stat;
    }
  }
  return fail(ErrorCode::corrupt, env.real_path(proc_file(pid, "stat")) + " has no start time");
}

}  // namespace stoker::os
