#include "base/program.h"

#include <filesystem>

namespace stoker {

Result<std::string> program_libraries() {
  std::error_code code;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", code);
  if (code) return fail(Error::from_errno(code.value(), "read /proc/self/exe"));
  return (program.parent_path().parent_path() / "lib").string();
}

}  // namespace stoker
