// Simulated node: MIG geometry in the state, and instances as an operator would have made them.
#pragma once

#include <string>

#include "base/result.h"
#include "catalog/products/product.h"
#include "device/sim/state.h"

namespace stoker::simnode {

void fill_mig(const catalog::Product& product, sim::MigFacts& mig);

// Switches MIG on or off; instances of before are gone.
void set_mig_mode(bool on, sim::MigFacts& mig);

// Makes a GPU instance of the profile `name` ("1g.10gb") with one compute instance that fills it, where
// the simulated library would put it. invalid_input where MIG is off or there is no such profile,
// unavailable where nothing is free, as a card answers.
Result<std::string> create_instance(const std::string& name, sim::Gpu& gpu);

// "1g.10gb gi=9 at 2:1" for each instance.
std::vector<std::string> describe_instances(const sim::MigFacts& mig);

}  // namespace stoker::simnode
