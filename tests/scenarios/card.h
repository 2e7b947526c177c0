// Test support: the cards of a scenario, and what they read while all is well.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/api.h"
#include "scenario.h"

namespace stoker::scenario {

using FieldValues = std::vector<std::pair<FieldId, Reading>>;

// As the product's file says; not_found names the products that there are.
Result<std::vector<device::GpuInfo>> cards_of(const Scenario& scenario);
// A card that idles and has nothing wrong; of each of its NVLinks; of the node.
FieldValues sound_card(const device::GpuInfo& card);
FieldValues sound_link();
FieldValues sound_node();

// Changes the word of the card, as health/operand.h names it; false: there is none of that name.
bool set_card_word(device::GpuInfo& card, std::string_view word, double value);

}  // namespace stoker::scenario
