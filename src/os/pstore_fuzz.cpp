// Fuzzes what the kernel left in pstore: the input is three files, one behind the other. Whatever they hold, each is told
// as part of a dump or as skipped.
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "os/pstore.h"

using namespace stoker;      // NOLINT(google-build-using-namespace): a program of its own
using namespace stoker::os;  // NOLINT(google-build-using-namespace)

namespace {

class ThreeFiles final : public Env {
 public:
  explicit ThreeFiles(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] const Clock& clock() const override { return system_clock(); }
  [[nodiscard]] Result<std::string> read_file(std::string_view path,
                                              std::size_t limit) const override {
    const std::size_t third = bytes_.size() / 3;
    const auto file = static_cast<std::size_t>(path.back() - '1');
    return std::string(bytes_.substr(file * third, std::min(third, limit)));
  }
  [[nodiscard]] Result<std::vector<std::string>> list_folder(std::string_view path) const override {
    if (path != "/sys/fs/pstore") return fail(ErrorCode::not_found, "no such folder");
    return std::vector<std::string>{"dmesg-efi-170000000000001", "dmesg-efi-170000000000002",
                                    "dmesg-ramoops-3"};
  }
  [[nodiscard]] Result<std::string> read_link(std::string_view) const override {
    return fail(ErrorCode::not_found, "no link");
  }
  [[nodiscard]] bool exists(std::string_view) const override { return true; }
  [[nodiscard]] Result<FilesystemUse> filesystem(std::string_view) const override {
    return FilesystemUse{};
  }
  [[nodiscard]] Result<FilesystemUse> own_filesystem(const std::string&) const override {
    return FilesystemUse{};
  }
  [[nodiscard]] std::string hostname() const override { return "node-1"; }
  [[nodiscard]] Result<UniqueFd> open(std::string_view, int) const override {
    return UniqueFd(::memfd_create("pstore", MFD_CLOEXEC));
  }
  [[nodiscard]] std::string real_path(std::string_view path) const override {
    return std::string(path);
  }

 private:
  std::string_view bytes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ThreeFiles files({reinterpret_cast<const char*>(data), size});
  const Pstore found = read_pstore(files);
  if (found.dumps.empty() && found.skipped.empty()) __builtin_trap();
  for (const auto& dump : found.dumps) {
    if (dump.name.empty() || !dump.text.ends_with('\n')) __builtin_trap();
  }
  return 0;
}
