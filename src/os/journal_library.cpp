#include "os/journal_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace stoker::os {
namespace {

constexpr const char* library_name = "libsystemd.so.0";

Result<JournalLibrary> load_journal_library() {
  const auto why = [] {
    const char* text =
        ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it for each thread
    return std::string(text == nullptr ? "no reason told" : text);
  };
  void* handle = ::dlopen(library_name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    return fail(ErrorCode::unavailable,
                fmt::format("the journal's library can't be loaded: {}", why()));
  }
  JournalLibrary library;
#define STOKER_LOAD(name)                                                                        \
  library.name = reinterpret_cast<decltype(library.name)>(::dlsym(handle, "sd_journal_" #name)); \
  if (library.name == nullptr) {                                                                 \
    return fail(ErrorCode::unavailable, fmt::format("{} is too old: {}", library_name, why()));  \
  }
  STOKER_JOURNAL_CALLS(STOKER_LOAD)
#undef STOKER_LOAD
  return library;
}

}  // namespace

Result<const JournalLibrary*> journal_library() {
  static const Result<JournalLibrary> loaded = load_journal_library();
  if (!loaded) return fail(loaded.error());
  return &*loaded;
}

}  // namespace stoker::os
