#include "fabric/subnet/fabric_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace stoker::fabric {
namespace {

std::string why_not() {
  const char* text = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it for each thread
  return text == nullptr ? "no reason told" : text;
}

Result<void*> find_call(const char* name, const char* library) {
  void* handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  void* found = handle == nullptr ? nullptr : ::dlsym(handle, name);
  if (found != nullptr) return found;
  return fail(ErrorCode::unavailable,
              fmt::format("{} can't be used: {}. It is in Debian's libibnetdisc5, and in "
                          "infiniband-diags or rdma-core "
                          "of other distributions",
                          library, why_not()));
}

Result<FabricLibrary> load_fabric_library() {
  FabricLibrary library;
#define STOKER_LOAD(name, file)                                      \
  {                                                                  \
    const auto found = find_call(#name, file);                       \
    if (!found) return fail(found.error());                          \
    library.name = reinterpret_cast<decltype(library.name)>(*found); \
  }
  STOKER_FABRIC_CALLS(STOKER_LOAD)
#undef STOKER_LOAD
  return library;
}

}  // namespace

Result<const FabricLibrary*> fabric_library() {
  static const Result<FabricLibrary> loaded = load_fabric_library();
  if (!loaded) return fail(loaded.error());
  return &*loaded;
}

}  // namespace stoker::fabric
