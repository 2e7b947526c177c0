// Machine stage: attributes of sysfs, as its drivers write them.
#pragma once

#include <string>

#include "os/env.h"

namespace stoker::os {

inline constexpr std::size_t sysfs_page = 4096;  // the most that an attribute has

// The first line of an attribute without blanks at its ends; empty: there is none, or it can't be read.
std::string sysfs_line(const Env& env, const std::string& path);
// What a link of sysfs leads to, without the folders before it: a driver, or a device's address. Empty: there is no link.
std::string sysfs_link(const Env& env, const std::string& path);
// "4: ACTIVE" -> "ACTIVE" (Linux' drivers/infiniband/core/sysfs.c, state_show)
std::string word_after_number(const std::string& text);

}  // namespace stoker::os
