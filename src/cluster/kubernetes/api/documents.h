// Edge: what an apiserver answers, out of its JSON. Pure, and for texts of any size and shape: what is too deep or no
// JSON is an error (corrupt).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoker::kubernetes {

// A kind that is served (https://kubernetes.io/docs/reference/using-api/api-concepts/).
struct Resource {
  std::string group;    // "" is the core group
  std::string version;  // "v1"
  std::string plural;   // "deployments", as in paths
  std::string kind;
  bool namespaced = false;
  bool listable = false;  // has the verb list
};

// Groups and the version of each that the server prefers: of /apis.
struct GroupVersion {
  std::string group;
  std::string version;
};
Result<std::vector<GroupVersion>> read_groups(std::string_view text);

// Of /api/v1 or /apis/GROUP/VERSION; subresources ("pods/status") are left out.
Result<std::vector<Resource>> read_resources(std::string_view text);

// One page of a list.
struct Page {
  // Each object as a text of its own in JSON, with the apiVersion and kind that items of a list leave out, and without
  // metadata.managedFields, which nobody reads and which are half of it.
  std::vector<std::string> objects;
  std::string next;  // for `continue`; empty: this was the last
};
Result<Page> read_page(std::string_view text);

// What an object of kind Status says: "pods is forbidden: User ...", and "Expired". Empty for what is none.
struct Status {
  std::string message;
  std::string reason;
};
Status read_status(std::string_view text);

// What an exec plugin prints, an ExecCredential.
struct PluginCredential {
  std::string token;
  std::string certificate;
  std::string key;
};
Result<PluginCredential> read_exec_credential(std::string_view text, std::string_view api_version);

}  // namespace stoker::kubernetes
