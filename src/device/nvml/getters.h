// Device stage: how each catalog getter is read from NVML. ONE ROW A GETTER, in getters.cpp; the
// catalog names the getters, and so says what the sampler asks for.
#pragma once

#include <span>
#include <string_view>

#include "device/nvml/card.h"

namespace stoker::nvml {

struct GetterRow {
  Getter getter;
  std::string_view symbols;  // the NVML functions that it calls
  // Reads `fields` (rows of that getter) and adds one reading for each, and one for each MIG device
  // or NVLink where it has such targets.
  void (*read)(Card& card, const Fields& fields, Readings& out);
};

// A row for each getter that is about a GPU.
std::span<const GetterRow> getter_rows();

// Null for a getter that is not NVML's: derived ones, the node's, and the process list.
const GetterRow* find_getter(Getter getter);

// activity_getters.cpp
void read_clocks(Card& card, const Fields& fields, Readings& out);
void read_throttle_reasons(Card& card, const Fields& fields, Readings& out);
void read_temperature(Card& card, const Fields& fields, Readings& out);
void read_thermal_margin(Card& card, const Fields& fields, Readings& out);
void read_performance_state(Card& card, const Fields& fields, Readings& out);
void read_utilization(Card& card, const Fields& fields, Readings& out);
void read_encoder(Card& card, const Fields& fields, Readings& out);
void read_decoder(Card& card, const Fields& fields, Readings& out);
void read_memory(Card& card, const Fields& fields, Readings& out);
void read_bar1(Card& card, const Fields& fields, Readings& out);
// batch_getters.cpp
void read_field_values(Card& card, const Fields& fields, Readings& out);
void read_gpm(Card& card, const Fields& fields, Readings& out);
// error_getters.cpp
void read_xid(Card& card, const Fields& fields, Readings& out);
void read_ecc(Card& card, const Fields& fields, Readings& out);
void read_retired_pages(Card& card, const Fields& fields, Readings& out);
void read_remapped_rows(Card& card, const Fields& fields, Readings& out);
void read_inforom(Card& card, const Fields& fields, Readings& out);
// link_getters.cpp
void read_pcie_link(Card& card, const Fields& fields, Readings& out);
void read_nvlink_state(Card& card, const Fields& fields, Readings& out);
void read_nvlink_errors(Card& card, const Fields& fields, Readings& out);
void read_fabric(Card& card, const Fields& fields, Readings& out);

// What one field value of a nvmlDeviceGetFieldValues call tells: its own code and type decide.
Reading value_of(const Called& called, const abi::FieldValue& value);

}  // namespace stoker::nvml
