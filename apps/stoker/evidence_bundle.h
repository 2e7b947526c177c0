// Composition: everything that is known about an incident as one file, as a vendor asks for when a card goes back.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace stoker::app {

struct BundleMember {
  std::string name;  // "incident-3/gpu.json"
  std::string content;
};

// A tar archive (POSIX ustar: pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html) of the members, all of this
// time, packed with zstd. invalid_input for a name of more than 100 bytes.
Result<std::string> pack_bundle(const std::vector<BundleMember>& members, WallTime at);

// The members for incident `id`: the incident, its GPU, the node's status, events, topology and the last hours of the
// GPU's history. `ask` gets an agent's page; a page that can't be had becomes a member that says why.
std::vector<BundleMember> gather_bundle(
    const std::string& id, const std::string& incident_document, const std::string& pci,
    const std::function<Result<std::string>(const std::string&)>& ask);

}  // namespace stoker::app
