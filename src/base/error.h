// Ground stage: the one error type. Everything that the driver, the disk, the network or a user
// may do wrong comes back as an Error that a person can act on; broken invariants abort instead.
#pragma once

#include <memory>
#include <string>
#include <utility>

namespace stoker {

enum class ErrorCode {
  invalid_input,  // a user's file, flag or request is wrong; the message says what would be right
  not_found,      // a file, device, symbol or entity is not there
  not_supported,  // this device or driver has no such thing
  no_permission,  // the operating system or the driver refused
  unavailable,    // the other side (driver, server, process) is not there or not answering
  timeout,        // a deadline passed
  io,             // a system call failed
  corrupt,        // data read back does not hold together
  cancelled,      // asked to stop
  internal,       // ours
};

// Stable lower-case word for logs and JSON, e.g. "no_permission".
const char* to_string(ErrorCode code);

// A code, a message that says what happened and what to do, and what caused it (if anything).
class Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] ErrorCode code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

  // This error as the cause of `outer`: Error(io, "read x").caused_by(inner).
  [[nodiscard]] Error caused_by(Error cause) && {
    cause_ = std::make_shared<const Error>(std::move(cause));
    return std::move(*this);
  }
  [[nodiscard]] const Error* cause() const { return cause_.get(); }

  // "message: cause message: ..." on one line.
  [[nodiscard]] std::string describe() const;

  // An io error (no_permission for EACCES/EPERM, not_found for ENOENT, ENOTDIR, ENXIO, ENODEV and ESRCH) from errno `number`
  // while doing `what`, e.g. "open /dev/kmsg".
  static Error from_errno(int number, const std::string& what);

 private:
  ErrorCode code_;
  std::string message_;
  std::shared_ptr<const Error> cause_;
};

}  // namespace stoker
