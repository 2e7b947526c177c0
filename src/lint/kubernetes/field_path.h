// Analyzer stage: a place in an object of the API as the path of its field, as kubectl writes it.
#pragma once

#include <string>

#include "catalog/yaml/view.h"

namespace stoker::lint::kubernetes {

// "spec.containers[0].image" for the scalar of `root` that begins at `place`, or is the last to begin before it. A key that
// is the first of its map stands for the whole map, since that is where a map begins. `root` comes from JSON, so that
// nothing in it stands twice.
std::string field_path_of(yaml::View root, yaml::Place place);

}  // namespace stoker::lint::kubernetes
