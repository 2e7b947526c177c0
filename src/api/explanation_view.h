// Edge: the explanation of an incident for people.
#pragma once

#include <string>

#include "base/result.h"
#include "model/render.h"

namespace stoker::api {

// Why, why that is to be done, what happened in order, what others would say, what to look at next, on whose word.
Result<std::string> view_explanation(const std::string& document, const TableStyle& style);

}  // namespace stoker::api
