#include "cluster/kubelet.h"

#include <dlfcn.h>

#include "base/program.h"
#include "cluster/socket_file.h"

namespace stoker::cluster {

Result<PodsAnswer> Kubelet::list(const std::stop_token& stop) {
  if (source_ == nullptr) {
    if (const auto file = find_socket(socket_); !file) return fail(file.error());
    if (auto loaded = load(); !loaded) return fail(loaded.error());
  }
  return source_->list(stop);
}

Result<void> Kubelet::load() {
  const auto why = [] {
    const char* text =
        ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it for each thread
    return std::string(text == nullptr ? "no reason told" : text);
  };
  // Never unloaded: gRPC's threads run in it as long as the process does.
  void* library = ::dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    return fail(ErrorCode::unavailable, "the kubelet's client can't be loaded: " + why());
  }
  using Make = PodResourcesSource* (*)(const char*);
  const auto make = reinterpret_cast<Make>(::dlsym(library, "stoker_kubelet_source"));
  if (make == nullptr) {
    return fail(ErrorCode::unavailable, library_ + " is no client of Stoker's: " + why());
  }
  source_.reset(make(socket_.c_str()));
  return {};
}

std::string kubelet_library() { return program_libraries().value_or("") + "/libstoker_kubelet.so"; }

}  // namespace stoker::cluster
