// Catalogue: what a card is, as data. One YAML file a product, embedded and overridable; the
// simulated driver answers from it, and MIG planning reads its geometry. Every group of values
// carries its source; what nobody has recorded is absent, and then the card is said not to tell it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace stoker::catalog {

// By clock, as NVML numbers them: graphics, SM, memory, video.
using ClockSet = std::array<std::uint32_t, 4>;

struct ProductIdentity {
  std::uint32_t brand = 0;         // NVML's brand number
  std::uint32_t architecture = 0;  // NVML's architecture number
  int compute_major = 0;
  int compute_minor = 0;
  std::uint32_t cores = 0;
  std::uint32_t multiprocessors = 0;
  std::string part_number;
  std::string vbios;
  std::string inforom_image;
  std::string inforom_oem;
  std::string inforom_ecc;
  std::string inforom_power;  // empty: the card has no such object
  bool gsp_firmware = false;
  bool gpm = false;  // rates by GPM: Hopper and later
  bool c2c = false;
  std::uint32_t addressing_mode = 0;
  std::uint64_t event_types = 0;  // NVML's event bits that the card can tell
};

struct ProductPci {
  std::uint32_t device_id = 0;     // device in the upper, vendor in the lower 16 bits
  std::uint32_t subsystem_id = 0;  // 0: unknown
  std::uint32_t generation = 0;
  std::uint32_t width = 0;
};

struct ProductMemory {
  std::uint64_t total_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t bar1_total_bytes = 0;
  std::uint64_t bar1_used_bytes = 0;
  std::uint32_t bus_width_bits = 0;  // 0: unknown
};

struct ProductClocks {
  ClockSet idle{};
  ClockSet busy{};
  ClockSet max{};
  ClockSet customer_boost{};
  ClockSet application{};
  std::uint32_t idle_pstate = 0;
  struct Row {
    std::uint32_t memory = 0;
    std::uint32_t graphics_min = 0;
    std::uint32_t graphics_max = 0;
    std::uint32_t step = 0;
  };
  std::vector<Row> rows;
  std::uint64_t supported_reasons = 0;  // NVML's clock event bits
};

struct ProductPower {
  std::uint32_t default_mw = 0;
  std::uint32_t min_mw = 0;  // 0: unknown
  std::uint32_t max_mw = 0;
};

// A threshold that is absent is one that the card (or everything public about it) does not tell.
struct ProductThermal {
  std::optional<int> shutdown;
  std::optional<int> slowdown;
  std::optional<int> memory_max;
  std::optional<int> gpu_max;
  std::uint32_t fans = 0;
};

struct ProductEcc {
  bool supported = false;
  bool enabled = false;
  std::vector<std::uint32_t> locations;  // NVML's memory locations that have counters
  std::uint32_t remap_banks = 0;         // banks with all spare rows; 0: no row remapping
  bool retired_pages = false;            // page retirement, before Ampere
};

struct ProductNvLink {
  std::uint32_t links = 0;
  std::uint32_t version_code = 0;  // what nvmlDeviceGetNvLinkVersion answers
  std::uint32_t speed_mbps = 0;    // one link, one direction
};

enum class FieldSourceKind : std::uint8_t { constant, live, untouched, refused };
// One NVML field id. Types and codes are NVML's numbers.
struct ProductField {
  std::uint32_t id = 0;
  FieldSourceKind source = FieldSourceKind::live;
  std::uint32_t type = 0;
  std::uint64_t value = 0;
  int code = 0;
};

// An NVML function that answers this code and nothing else.
struct ProductAnswer {
  std::string function;
  int code = 0;
};

struct ProductMode {
  bool display = false;
  bool adaptive_clock = false;
  std::uint32_t accounting_buffer = 0;
};

struct MigProfile {
  std::string name;          // "1g.10gb+me"
  std::uint32_t number = 0;  // NVML's profile number
  std::uint32_t id = 0;      // the card's, as nvidia-smi mig -lgip shows it
  std::uint32_t slices = 0;  // compute slices
  std::uint32_t instances = 0;
  std::uint32_t multiprocessors = 0;
  std::uint64_t memory_mib = 0;
  std::uint32_t copy_engines = 0;
  std::uint32_t decoders = 0;
  std::uint32_t encoders = 0;
  std::uint32_t jpeg_engines = 0;
  std::uint32_t ofa_engines = 0;
  std::uint32_t size = 0;  // memory slices
  std::vector<std::uint32_t> starts;
};

// The geometry of a card in MIG mode: an instance takes `size` memory slices from one of `starts`.
struct MigGeometry {
  std::uint32_t memory_slices = 0;
  std::uint32_t compute_slices = 0;
  std::uint32_t slice_multiprocessors = 0;
  bool needs_reset = false;  // the mode changes with a GPU reset only
  std::vector<MigProfile> profiles;
  // What is not from a card or a document of the vendor but concluded, e.g. "placements".
  std::vector<std::string> inferred;
};

// How the load model scales; watts and degrees of one real card where there is one.
struct ProductModel {
  std::uint32_t idle_mw = 0;
  std::uint32_t held_mw = 0;
  std::uint32_t full_mw = 0;
  int idle_celsius = 0;
  int full_celsius = 0;
  int memory_above_celsius = 0;
  std::uint32_t thermal_time_ms = 0;
  std::uint64_t pcie_bytes_per_second = 0;
};

struct Source {
  std::string group;  // "thermal"
  std::string text;   // where its values come from
};

struct Product {
  std::string id;    // "h100-80gb": the name of its file
  std::string name;  // what NVML calls it
  ProductIdentity identity;
  ProductPci pci;
  ProductMemory memory;
  ProductClocks clocks;
  ProductPower power;
  ProductThermal thermal;
  ProductEcc ecc;
  ProductMode modes;
  std::optional<ProductNvLink> nvlink;
  std::vector<ProductField> nvlink_fields;  // in place of `fields` where NVLink is up
  std::vector<ProductField> fields;
  std::vector<ProductAnswer> answers;
  std::optional<MigGeometry> mig;
  ProductModel model;
  std::vector<Source> sources;  // one a group
};

// Reads the text of a product file; every mistake with file:line:column (invalid_input).
Result<Product> parse_product(std::string_view text, const std::string& file);

// The product `id`: FOLDER/id.yaml where `folder` is given and has it, else the embedded one.
// not_found lists what there is, the nearest first.
Result<Product> load_product(const std::string& id, const std::string& folder = "");

// Ids of the embedded products, in alphabetical order.
std::vector<std::string> product_ids();

}  // namespace stoker::catalog
