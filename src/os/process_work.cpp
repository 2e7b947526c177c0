#include "os/process_work.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "os/proc_stat.h"

namespace stoker::os {
namespace {

constexpr std::size_t work_limit = 65536;
// A rank of a training has a dozen loaders and a few hundred threads.
constexpr std::size_t most_processes = 256;
constexpr std::size_t most_threads = 8192;

Error too_many(std::uint32_t pid) {
  return {ErrorCode::unavailable,
          fmt::format("process {} has more than {} descendants or {} threads", pid, most_processes,
                      most_threads)};
}

// The number behind "rchar: ", say.
std::uint64_t number_of(std::string_view text, std::string_view name) {
  const auto at = text.find(name);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = text.substr(at + name.size());
  return whole_number<std::uint64_t>(rest.substr(0, rest.find('\n'))).value_or(0);
}

// The family of one process, and what it did.
class Family {
 public:
  explicit Family(const Env& env) : env_(env) {}

  Result<ProcessWork> add_up(const ProcessId& head) {
    std::vector<std::uint32_t> todo{head.pid};
    for (std::size_t n = 0; n < todo.size(); ++n) {
      if (n >= most_processes) return fail(too_many(head.pid));
      const auto stat = read_stat(env_, todo[n]);
      const bool gone = !stat || (n == 0 && stat->start_ticks != head.start_ticks);
      if (gone && n == 0) {
        return fail(ErrorCode::not_found, fmt::format("process {} has ended", head.pid));
      }
      if (gone) continue;
      if (auto added = add(todo[n], *stat); !added) return fail(added.error());
      if (auto listed = list_children(todo[n], todo); !listed) return fail(listed.error());
    }
    const auto hz = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
    all_.cpu = static_cast<std::int64_t>(ticks_) * (Nanoseconds(Seconds(1)) / hz);
    return all_;
  }

 private:
  Result<void> add(std::uint32_t pid, const ProcStat& stat) {
    ticks_ += stat.cpu_ticks;
    all_.waits_in_kernel = all_.waits_in_kernel || stat.state == 'D';
    const auto io = env_.read_file(proc_file(pid, "io"), work_limit);
    if (!io && io.error().code() == ErrorCode::not_found) return {};  // it has just ended
    if (!io) return fail(io.error());
    all_.io_bytes += number_of(*io, "rchar: ") + number_of(*io, "wchar: ");
    return {};
  }

  // A child belongs to the thread that started it.
  Result<void> list_children(std::uint32_t pid, std::vector<std::uint32_t>& out) {
    const auto tasks = env_.list_folder(proc_file(pid, "task"));
    if (!tasks) return {};
    threads_ += tasks->size();
    if (threads_ > most_threads) return fail(too_many(pid));
    for (const std::string& task : *tasks) {
      const std::string folder = "task/" + task;
      const auto text = env_.read_file(proc_file(pid, folder + "/children"), work_limit);
      if (!text && env_.exists(proc_file(pid, folder))) {
        return fail(ErrorCode::unavailable, "the kernel lists no children (CONFIG_PROC_CHILDREN)");
      }
      if (!text) continue;
      for (std::string_view rest = *text; !rest.empty();) {
        const auto end = std::min(rest.find(' '), rest.size());
        if (const auto child = whole_number<std::uint32_t>(rest.substr(0, end))) {
          out.push_back(*child);
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    return {};
  }

  const Env& env_;
  ProcessWork all_;
  std::uint64_t ticks_ = 0;
  std::size_t threads_ = 0;
};

}  // namespace

Result<ProcessWork> read_work(const Env& env, const ProcessId& id) {
  return Family(env).add_up(id);
}

}  // namespace stoker::os
