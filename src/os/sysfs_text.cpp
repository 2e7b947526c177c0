#include "os/sysfs_text.h"

#include "base/text.h"

namespace stoker::os {

std::string sysfs_line(const Env& env, const std::string& path) {
  const auto text = env.read_file(path, sysfs_page);
  return text ? std::string(trimmed(text->substr(0, text->find('\n')))) : std::string();
}

std::string sysfs_link(const Env& env, const std::string& path) {
  const auto link = env.read_link(path);
  return link ? link->substr(link->rfind('/') + 1) : std::string();
}

std::string word_after_number(const std::string& text) {
  const auto colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

}  // namespace stoker::os
