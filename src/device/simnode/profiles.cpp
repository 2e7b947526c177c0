// Simulated node: the machines that everybody knows by name, embedded.
#include <algorithm>
#include <filesystem>

#include "base/closest.h"
#include "device/simnode/machine.h"
#include "device/simnode/sim_node.h"
#include "embedded/profiles.h"

namespace stoker::simnode {

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const auto& file : embedded::profiles) names.emplace_back(file.id);
  return names;
}

Result<Machine> load_profile(const std::string& name, const std::string& catalog_folder) {
  if (!catalog_folder.empty() && name.find('/') == std::string::npos) {
    const std::string path = catalog_folder + "/" + name + ".yaml";
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return load_machine(path, catalog_folder);
  }
  for (const auto& file : embedded::profiles) {
    if (file.id != name) continue;
    return parse_machine(file.text(), name + ".yaml (built in)", name, catalog_folder);
  }
  return fail(ErrorCode::invalid_input, "there is no profile '" + name + "'; there are " +
                                            listed(closest_first(name, profile_names())) +
                                            "; a machine of your own is a file (--machine)");
}

}  // namespace stoker::simnode
