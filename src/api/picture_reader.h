// Edge: the agent's documents as the picture of a node that `stoker why` judges.
#pragma once

#include <string>

#include "base/result.h"
#include "doctor/why.h"

namespace stoker::api {

// Of GET /api/v1/gpus, /api/v1/status and /api/v1/events. corrupt where one of them is no document of ours.
Result<doctor::NodePicture> read_picture(const std::string& gpus, const std::string& status,
                                         const std::string& events);

}  // namespace stoker::api
