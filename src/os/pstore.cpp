#include "os/pstore.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace stoker::os {
namespace {

constexpr std::string_view live_folder = "/sys/fs/pstore";
constexpr std::string_view kept_folder = "/var/lib/systemd/pstore";
// A part is as long as a record of its backend, 1 KiB of EFI variables up to some 100 KiB of RAM.
constexpr std::size_t longest_part = 1 << 20;
// Whatever is there.
constexpr std::size_t most_files = 1024;
constexpr std::size_t most_folders = 64;
// The last digits of a name are the part's number and a count; what stands before is one record's
// (src/pstore/pstore.c in the systemd source).
constexpr std::size_t digits_of_part = 6;

struct Part {
  std::string folder, name, reason, text;
  unsigned number = 0;
  WallTime written;
};

// "Panic#2 Part3" in front of the text (fs/pstore/platform.c, pstore_dump()).
void take_header(Part& part) {
  const std::string_view text(part.text);
  const auto line = text.substr(0, text.find('\n'));
  const auto hash = line.find('#');
  const auto word = line.find(" Part");
  if (hash == std::string_view::npos || word == std::string_view::npos || hash > word) return;
  const auto number = whole_number<unsigned>(line.substr(word + 5));
  if (!number) return;
  part.reason = line.substr(0, word);  // with its count, by which parts belong together
  part.number = *number;
  part.text.erase(0, std::min(line.size() + 1, part.text.size()));
}

WallTime written_at(const UniqueFd& file) {
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return {};
  return {Seconds(facts.st_mtim.tv_sec) + Nanoseconds(facts.st_mtim.tv_nsec)};
}

void read_parts(const Env& env, const std::string& folder, std::vector<Part>& parts,
                std::vector<std::string>& skipped) {
  const auto names = env.list_folder(folder);
  if (!names) {
    if (names.error().code() != ErrorCode::not_found) skipped.push_back(names.error().describe());
    return;
  }
  for (const auto& name : *names) {
    if (!name.starts_with("dmesg-") || parts.size() >= most_files) continue;
    const auto path = fmt::format("{}/{}", folder, name);
    // What the kernel could not unpack keeps this end.
    if (name.ends_with(".enc.z")) {
      skipped.push_back(path + ": packed, and the kernel did not unpack it");
      continue;
    }
    const auto file = env.open(path);
    auto text = env.read_file(path, longest_part);
    if (!file || !text) {
      skipped.push_back(
          fmt::format("{}: {}", path, (file ? text.error() : file.error()).describe()));
      continue;
    }
    Part part{
        .folder = folder, .name = name, .text = *std::move(text), .written = written_at(*file)};
    take_header(part);
    parts.push_back(std::move(part));
  }
}

std::string record_of(const std::string& name) {
  const auto dash = name.rfind('-');
  const auto digits = name.size() - dash - 1;
  return digits > digits_of_part ? name.substr(0, name.size() - digits_of_part) : name;
}

PstoreDump joined(std::vector<Part> parts) {
  // The first part is the end of the log.
  std::ranges::sort(parts, [](const Part& a, const Part& b) { return a.number > b.number; });
  const Part& last = parts.back();
  PstoreDump dump{.folder = last.folder,
                  .name = last.name,
                  .reason = last.reason.substr(0, last.reason.find('#')),
                  .text = {},
                  .written = {}};
  for (const Part& part : parts) {
    dump.text += part.text;
    if (!dump.text.ends_with('\n')) dump.text += '\n';
    dump.written = std::max(dump.written, part.written);
  }
  return dump;
}

}  // namespace

Pstore read_pstore(const Env& env) {
  Pstore all;
  std::vector<Part> parts;
  std::vector<std::string> folders{std::string(live_folder), std::string(kept_folder)};
  auto kept = env.list_folder(kept_folder).value_or(std::vector<std::string>());
  // Their names rise with time.
  if (kept.size() > most_folders) kept.erase(kept.begin(), kept.end() - most_folders);
  for (const auto& name : kept) {
    const auto path = fmt::format("{}/{}", kept_folder, name);
    if (!env.list_folder(path)) continue;
    folders.push_back(path);
    // Since version 251 one more below, a number each.
    for (const auto& below : env.list_folder(path).value_or(std::vector<std::string>())) {
      if (!whole_number<std::uint32_t>(below) || folders.size() > 2 * most_folders) continue;
      folders.push_back(fmt::format("{}/{}", path, below));
    }
  }
  for (const auto& folder : folders) read_parts(env, folder, parts, all.skipped);
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<Part>> groups;
  for (auto& part : parts) {
    auto& group = groups[{part.folder, part.reason, record_of(part.name)}];
    group.push_back(std::move(part));
  }
  for (auto& [key, group] : groups) all.dumps.push_back(joined(std::move(group)));
  std::ranges::sort(all.dumps, [](const PstoreDump& a, const PstoreDump& b) {
    return std::tie(b.written, b.name) < std::tie(a.written, a.name);
  });
  return all;
}

}  // namespace stoker::os
