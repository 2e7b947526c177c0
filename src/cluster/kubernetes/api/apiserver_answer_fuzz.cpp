// Any bytes as an apiserver's answer: read or refused. What a page gives out is a list of objects, which reads as the same
// objects once more.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cluster/kubernetes/api/documents.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace kube = stoker::kubernetes;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)kube::read_groups(text);
  (void)kube::read_resources(text);
  (void)kube::read_status(text);
  (void)kube::read_exec_credential(text, "client.authentication.k8s.io/v1");
  const auto page = kube::read_page(text);
  if (!page) return 0;
  std::string again = R"({"kind":"List","apiVersion":"v1","items":[)";
  for (std::size_t i = 0; i < page->objects.size(); ++i)
    again += (i > 0 ? "," : "") + page->objects[i];
  const auto same = kube::read_page(again + "]}");
  if (!same || same->objects != page->objects) std::abort();
  return 0;
}
