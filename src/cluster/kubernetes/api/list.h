// Edge: what an apiserver serves, and all objects of a kind, page by page
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/kubernetes/api/client.h"
#include "cluster/kubernetes/api/documents.h"

namespace stoker::kubernetes {

struct KindName {
  std::string group;
  std::string kind;
};

// What discovery says of the kinds that were asked for.
struct Served {
  std::vector<Resource>
      resources;  // in the order of the question, by the version that the server prefers
  std::vector<KindName> absent;  // the server has no such kind
  // Groups that could not be asked for, with the reason: whether their kinds are served is not known.
  std::vector<std::pair<std::string, std::string>> unknown;
};

// An error where nothing at all can be known.
Result<Served> find_served(Client& client, const std::vector<KindName>& kinds);

enum class ListOutcome : std::uint8_t { complete, forbidden, not_served, failed };

struct ListResult {
  ListOutcome outcome = ListOutcome::complete;
  std::string reason;  // where it is not complete: what the server or the network said
  std::size_t objects = 0;
  std::size_t pages = 0;
};

struct ListOptions {
  std::string name_space;   // empty: all of them
  std::size_t limit = 500;  // objects a page, as kubectl; fewer where a page would be too long
};

// Gives every object, in JSON, to `take`, one at a time. A list that outlives what the server keeps of it (410) is begun
// again, once: `start_over` says to forget what was taken so far. What was taken of a list that is not complete is a part.
ListResult list_objects(Client& client, const Resource& resource, const ListOptions& options,
                        const std::function<void(std::string_view)>& take,
                        const std::function<void()>& start_over);

// "/apis/apps/v1/namespaces/ml/deployments".
std::string path_of(const Resource& resource, std::string_view name_space);

}  // namespace stoker::kubernetes
