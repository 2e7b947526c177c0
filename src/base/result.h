// Ground stage: Result<T> is a value or an Error. Exceptions stop where a library throws them.
#pragma once

#include <tl/expected.hpp>

#include "base/error.h"

namespace stoker {

template <typename T>
using Result = tl::expected<T, Error>;

// `return fail(ErrorCode::io, "...")` from any function that returns a Result.
inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error(code, std::move(message)));
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace stoker
