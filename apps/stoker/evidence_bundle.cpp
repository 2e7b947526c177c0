#include "evidence_bundle.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace stoker::app {
namespace {

constexpr std::size_t block = 512;

// ustar's header: a field's place and size.
struct HeaderField {
  std::size_t at, size;
};
constexpr HeaderField name_field{0, 100}, mode_field{100, 8}, owner_field{108, 8},
    group_field{116, 8}, size_field{124, 12}, time_field{136, 12}, sum_field{148, 8},
    type_field{156, 1}, magic_field{257, 8};

void put(std::string& header, HeaderField field, std::string_view text) {
  header.replace(field.at, std::min(field.size, text.size()), text.substr(0, field.size));
}

void put_octal(std::string& header, HeaderField field, std::uint64_t value) {
  put(header, field, fmt::format("{:0{}o}", value, field.size - 1));
}

std::string header_of(const BundleMember& member, WallTime at) {
  std::string header(block, '\0');
  put(header, name_field, member.name);
  put_octal(header, mode_field, 0644);
  put_octal(header, owner_field, 0);
  put_octal(header, group_field, 0);
  put_octal(header, size_field, member.content.size());
  put_octal(header, time_field, static_cast<std::uint64_t>(at.since_epoch / Seconds(1)));
  put(header, type_field, "0");
  put(header, magic_field, std::string_view("ustar\00000", 8));
  // The sum is reckoned as if its own field were blanks.
  put(header, sum_field, "        ");
  std::uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(header, sum_field, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header;
}

}  // namespace

Result<std::string> pack_bundle(const std::vector<BundleMember>& members, WallTime at) {
  std::string archive;
  for (const auto& member : members) {
    if (member.name.size() > name_field.size) {
      return fail(ErrorCode::invalid_input, fmt::format("{}: too long a name", member.name));
    }
    archive += header_of(member, at);
    archive += member.content;
    archive.append((block - member.content.size() % block) % block, '\0');
  }
  archive.append(2 * block, '\0');
  std::string packed(ZSTD_compressBound(archive.size()), '\0');
  constexpr int level = 9;
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), archive.data(), archive.size(), level);
  if (ZSTD_isError(size) != 0) {
    return fail(ErrorCode::internal, fmt::format("zstd: {}", ZSTD_getErrorName(size)));
  }
  packed.resize(size);
  return packed;
}

std::vector<BundleMember> gather_bundle(
    const std::string& id, const std::string& incident_document, const std::string& pci,
    const std::function<Result<std::string>(const std::string&)>& ask) {
  const std::string folder = fmt::format("incident-{}/", id);
  std::vector<BundleMember> members = {{folder + "incident.json", incident_document}};
  const auto add = [&](const std::string& name, const std::string& page) {
    const auto document = ask(page);
    members.push_back(document ? BundleMember{folder + name + ".json", *document}
                               : BundleMember{folder + name + ".missing.txt",
                                              document.error().describe() + "\n"});
  };
  add("status", "/api/v1/status");
  add("events", "/api/v1/events");
  add("topology", "/api/v1/topology");
  if (pci.empty()) return members;
  add("gpu", "/api/v1/gpus/" + pci);
  // What a vendor looks at first: heat, power, clocks and what held them down. Error counts stand in the GPU's document.
  constexpr std::array<const char*, 6> fields = {
      "temperature", "memory_temperature", "power", "sm_clock", "throttle_reasons", "utilization"};
  for (const char* field : fields) {
    add(fmt::format("history-{}", field),
        fmt::format("/api/v1/history?field={}&gpu={}&since=24h", field, pci));
  }
  return members;
}

}  // namespace stoker::app
