// Edge: the topology document, written and read again. Text in, text out.
#pragma once

#include <string>

#include "base/result.h"
#include "topology/topology.h"

namespace stoker::api {

// {"schema":"stoker.dev/v1/topology","gpus":[...],"nics":[...],...}; `distances` of a row are nvidia-smi's
// words by row name.
std::string topology_document(const topology::Topology& topology);

// What such a document was written from; corrupt if it is none.
Result<topology::Topology> read_topology(const std::string& document);

}  // namespace stoker::api
