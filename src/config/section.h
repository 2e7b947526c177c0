// Edge: one section of a config file, put in the place of the old one. Text in, text out.
#pragma once

#include <string>
#include <string_view>

namespace stoker::config {

// `file` with its top-level section `name` replaced by `section`, which begins with "<name>:" and ends
// with a line break; put at the end where there is none. Everything else, comments too, stays byte for
// byte; comments inside the old section go with it.
std::string replace_section(std::string_view file, std::string_view name, std::string_view section);

}  // namespace stoker::config
