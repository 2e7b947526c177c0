#include "job_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/text.h"
#include "base/unique_fd.h"
#include "os/rooted.h"

namespace stoker::app {
namespace {

constexpr std::string_view wildcards = "*?[";

// What would be a wildcard in a name that is none.
std::string without_wildcards(std::string_view text) {
  std::string out;
  for (const char c : text) out += wildcards.find(c) == std::string_view::npos ? c : '?';
  return out;
}

void add_name(const JobProcess& process, std::string pattern, bool dump, bool own,
              std::vector<FileName>& out) {
  // Below which folder a process began is nobody's business any more: a relative name can't be followed.
  if (process.root.empty() || !pattern.starts_with('/')) return;
  out.push_back({process.root, std::move(pattern), dump, own});
}

std::vector<std::string> names_in(const std::string& root, const std::string& folder,
                                  const std::string& pattern) {
  std::vector<std::string> names;
  auto fd = os::open_below(root, folder.empty() ? "/" : folder, O_RDONLY | O_DIRECTORY);
  if (!fd) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(fd->get()), &::closedir);
  if (entries == nullptr) return names;
  static_cast<void>(fd->release());  // the stream's now
  constexpr std::size_t most_seen = 100'000;
  for (std::size_t seen = 0; seen < most_seen; ++seen) {
    const dirent* entry = ::readdir(entries.get());
    if (entry == nullptr) break;
    if (::fnmatch(pattern.c_str(), entry->d_name, FNM_PERIOD) == 0)
      names.emplace_back(entry->d_name);
  }
  std::ranges::sort(names);
  return names;
}

Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t size) {
  std::string text(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const auto got =
        ::pread(fd, text.data() + have, size - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(Error::from_errno(errno, "read"));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

// The root is a descriptor of ours, of another number for each process, and `path` is told beside it.
Error as_the_job_sees_it(const Error& error, const std::string& root, const std::string& path) {
  auto text = error.describe();
  replace_all(text, fmt::format("open {}{}: ", root == "/" ? "" : root, path), "");
  if (root != "/") replace_all(text, root + "/", "/");
  return {error.code(), std::move(text)};
}

Result<FilePiece> read_piece(int fd, std::uint64_t size, bool dump, const FileLimits& limits) {
  const std::size_t whole = dump ? limits.dump : limits.head + limits.tail;
  if (size <= whole) {
    auto text = read_at(fd, 0, size);
    if (!text) return fail(text.error());
    return FilePiece{*std::move(text), {}};
  }
  if (dump) return fail(ErrorCode::invalid_input, "it is larger than a dump may be");
  auto head = read_at(fd, 0, limits.head);
  auto tail = read_at(fd, size - limits.tail, limits.tail);
  if (!head || !tail) return fail(head ? tail.error() : head.error());
  head->resize(head->rfind('\n') + 1);  // npos + 1: nothing
  const auto line = tail->find('\n');
  head->append(line == std::string::npos ? std::string_view()
                                         : std::string_view(*tail).substr(line + 1));
  return FilePiece{
      *std::move(head),
      fmt::format("{} MiB between its beginning and its end were not read", (size - whole) >> 20U)};
}

}  // namespace

std::vector<FileName> file_names_of(const JobProcess& process) {
  std::vector<FileName> out;
  auto file = process.variable("NCCL_DEBUG_FILE");
  const bool known = !process.host.empty() || file.find("%h") == std::string::npos;
  if (!file.empty() && known) {
    const bool own = file.find("%p") != std::string::npos;
    replace_all(file, "%p", std::to_string(process.pids.back()));
    replace_all(file, "%h", without_wildcards(process.host.substr(0, process.host.find('.'))));
    add_name(process, std::move(file), false, own, out);
  }
  for (const auto& output : process.outputs)
    add_name(process, without_wildcards(output), false, true, out);
  // ProcessGroupNCCL's DebugInfoWriter: the prefix and the rank. An older name and its successor mean the same.
  for (const char* name : {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"}) {
    const auto prefix = process.variable(name);
    if (prefix.empty() || !process.rank) continue;
    add_name(process, fmt::format("{}{}", prefix, *process.rank), true, true, out);
  }
  return out;
}

std::vector<std::string> files_named(const FileName& name, const FileLimits& limits) {
  std::vector<std::string> found = {""};
  std::string_view rest = name.pattern;
  while (!rest.empty()) {
    rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
    const std::string part(rest.substr(0, rest.find('/')));
    rest.remove_prefix(part.size());
    if (part.empty()) break;
    std::vector<std::string> next;
    for (const auto& folder : found) {
      if (part.find_first_of(wildcards) == std::string::npos) {
        next.push_back(fmt::format("{}/{}", folder, part));
        continue;
      }
      for (const auto& entry : names_in(name.root, folder, part)) {
        if (next.size() < limits.names) next.push_back(fmt::format("{}/{}", folder, entry));
      }
    }
    found = std::move(next);
  }
  if (found.size() == 1 && found.front().empty()) found.clear();
  return found;
}

Result<FilePiece> read_job_file(const std::string& root, const std::string& path, bool dump,
                                std::uint32_t uid, WallTime since, const FileLimits& limits) {
  // Opened as a place first: to open a FIFO or a device does something to it.
  const auto place = os::open_below(root, path, O_PATH);
  if (!place) return fail(as_the_job_sees_it(place.error(), root, path));
  struct stat seen{};
  if (::fstat(place->get(), &seen) != 0) return fail(Error::from_errno(errno, "look at it"));
  if (!S_ISREG(seen.st_mode)) return fail(ErrorCode::invalid_input, "it is no regular file");
  if (seen.st_uid != uid)
    return fail(ErrorCode::invalid_input,
                fmt::format("it belongs to uid {}, not to the job's, {}", seen.st_uid, uid));
  const WallTime written{Seconds(seen.st_mtim.tv_sec) + Nanoseconds(seen.st_mtim.tv_nsec)};
  if (written < since)
    return fail(ErrorCode::invalid_input, "it was last written before the job's process began");
  const auto again = fmt::format("/proc/self/fd/{}", place->get());
  const UniqueFd fd(::open(again.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid()) return fail(Error::from_errno(errno, "open it"));
  return read_piece(fd.get(), static_cast<std::uint64_t>(seen.st_size), dump, limits);
}

}  // namespace stoker::app
