// Fabric analyzer: where all cables of a node, or of a host's adapters, have the same, it is the node's doing: one verdict
// for it in place of one a cable.
#pragma once

#include <vector>

#include "fabric/signs.h"

namespace stoker::fabric {

// Takes out of `signs` what is told of nodes, and returns that.
std::vector<Told> fold_nodes(const Look& look, const Layout& layout, Signs& signs);

// A finding of `verdict` about `entity`, with what its row says.
Finding finding_of(Verdict verdict, Entity entity);

}  // namespace stoker::fabric
