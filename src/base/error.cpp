#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace stoker {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_input: return "invalid_input";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::not_supported: return "not_supported";
    case ErrorCode::no_permission: return "no_permission";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::timeout: return "timeout";
    case ErrorCode::io: return "io";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::internal: return "internal";
  }
  return "internal";
}

std::string Error::describe() const {
  std::string text = message_;
  for (const Error* inner = cause(); inner != nullptr; inner = inner->cause()) {
    text += ": " + inner->message();
  }
  return text;
}

Error Error::from_errno(int number, const std::string& what) {
  ErrorCode code = ErrorCode::io;
  if (number == EACCES || number == EPERM) {
    code = ErrorCode::no_permission;
  } else if (number == ENOENT || number == ENXIO || number == ENODEV || number == ENOTDIR ||
             number == ESRCH) {
    code = ErrorCode::not_found;
  } else if (number == ETIMEDOUT) {
    code = ErrorCode::timeout;
  }
  return Error(code, what + ": " + std::generic_category().message(number));
}

}  // namespace stoker
