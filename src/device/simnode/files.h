// Simulated node: writing files so that readers see the old or the new content, never a part.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stoker::simnode {

// Makes the folders above `path` and puts the file there by one rename.
Result<void> write_file(const std::string& path, std::string_view content);
Result<void> make_link(const std::string& target, const std::string& path);
Result<std::string> read_file(const std::string& path);
// Renames a file or folder, making the folders above `to`; nothing to do where `from` is not there.
Result<void> move_aside(const std::string& from, const std::string& to);
// Removes a file or a whole folder.
void remove_all(const std::string& path);
bool exists(const std::string& path);
// `path` from the root of the file system, without ".." and a slash at its end.
std::string absolute(const std::string& path);

}  // namespace stoker::simnode
