// Reads product files group by group. Ranges are what no card of these years leaves; a value outside
// is a slip of the hand, not a new card.
#include <algorithm>
#include <set>

#include "base/closest.h"
#include "catalog/products/product.h"
#include "catalog/products/words.h"
#include "catalog/yaml/map_reader.h"

namespace stoker::catalog {
namespace {

using yaml::MapReader;
using yaml::Need;
using yaml::Node;

constexpr std::int64_t top = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t mib = 1 << 20;
constexpr unsigned max_field_id = 319;  // rows that the simulated driver's state holds
constexpr std::size_t max_starts = 8;
constexpr std::size_t max_inforom = 15;  // NVML's buffers, without the zero
constexpr std::size_t max_vbios = 31;
constexpr std::size_t max_text = 79;

std::string text_at(MapReader& map, std::string_view key, Need need = Need::optional) {
  std::string text;
  map.text(key, text, need);
  return text;
}

// A text that has to fit a buffer of NVML's.
std::string short_text(MapReader& map, std::string_view key, std::size_t longest) {
  std::string text = text_at(map, key);
  if (text.size() > longest) {
    map.problem(map.find(key)->place,
                map.name(key) + " is longer than " + std::to_string(longest) + " letters");
  }
  return text;
}

template <std::size_t size>
void named(MapReader& map, std::string_view key, const std::array<NamedNumber, size>& table,
           std::uint32_t& out) {
  std::size_t index = size;
  map.word(key, words_of(table), index, Need::required);
  if (index < size) out = static_cast<std::uint32_t>(table[index].number);
}

// A map under `key` with its own `source`; what has no source is not taken.
class Group {
 public:
  Group(MapReader& file, std::string_view key, Need need, Product& product) {
    const Node* node = need == Need::required ? file.need(key) : file.find(key);
    if (node == nullptr || node->empty()) return;
    map_.emplace(*node, std::string(key), file.problems());
    product.sources.push_back({std::string(key), text_at(*map_, "source", Need::required)});
  }
  ~Group() {
    if (map_) map_->finish();
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  explicit operator bool() const { return map_.has_value(); }
  MapReader& operator*() { return *map_; }
  MapReader* operator->() { return &*map_; }

 private:
  std::optional<MapReader> map_;
};

void read_identity(MapReader& file, Product& product) {
  Group group(file, "identity", Need::required, product);
  if (!group) return;
  ProductIdentity& out = product.identity;
  named(*group, "brand", brands, out.brand);
  named(*group, "architecture", architectures, out.architecture);
  std::vector<int> capability;
  group->numbers("compute_capability", capability, 0, 99, Need::required);
  if (capability.size() == 2) {
    out.compute_major = capability[0];
    out.compute_minor = capability[1];
  } else if (!capability.empty()) {
    group->problem(group->place(), "identity.compute_capability has to be [major, minor]");
  }
  group->number("cores", out.cores, 1, 1'000'000, Need::required);
  group->number("multiprocessors", out.multiprocessors, 1, 1000, Need::required);
  out.part_number = short_text(*group, "part_number", max_text);
  out.vbios = short_text(*group, "vbios", max_vbios);
  if (const Node* inforom = group->find("inforom")) {
    MapReader map(*inforom, "identity.inforom", group->problems());
    out.inforom_image = short_text(map, "image", max_inforom);
    out.inforom_oem = short_text(map, "oem", max_inforom);
    out.inforom_ecc = short_text(map, "ecc", max_inforom);
    out.inforom_power = short_text(map, "power", max_inforom);
    map.finish();
  }
  group->flag("gsp_firmware", out.gsp_firmware);
  group->flag("gpm", out.gpm);
  group->flag("c2c", out.c2c);
  group->number("addressing_mode", out.addressing_mode, 0, 2);
  group->number("event_types", out.event_types, 0, top, Need::required);
}

void read_pci(MapReader& file, Product& product) {
  Group group(file, "pci", Need::required, product);
  if (!group) return;
  group->number("device_id", product.pci.device_id, 1, 0xFFFFFFFF, Need::required);
  group->number("subsystem_id", product.pci.subsystem_id, 1, 0xFFFFFFFF);
  group->number("generation", product.pci.generation, 1, 7, Need::required);
  group->number("width", product.pci.width, 1, 32, Need::required);
}

void read_memory(MapReader& file, Product& product) {
  Group group(file, "memory", Need::required, product);
  if (!group) return;
  ProductMemory& out = product.memory;
  group->number("total_bytes", out.total_bytes, mib, 16'000'000 * mib, Need::required);
  group->number("reserved_bytes", out.reserved_bytes, 0, top);
  group->number("bar1_total_bytes", out.bar1_total_bytes, 0, 16'000'000 * mib);
  group->number("bar1_used_bytes", out.bar1_used_bytes, 0, 16'000'000 * mib);
  group->number("bus_width_bits", out.bus_width_bits, 32, 65536);
  if (out.reserved_bytes >= out.total_bytes && out.total_bytes != 0) {
    group->problem(group->place(), "memory.reserved_bytes leaves nothing of memory.total_bytes");
  }
}

void clock_set(MapReader& map, std::string_view key, ClockSet& out, Need need) {
  std::vector<std::uint32_t> values;
  map.numbers(key, values, 0, 20000, need);
  if (values.size() == out.size()) {
    std::copy(values.begin(), values.end(), out.begin());
  } else if (!values.empty()) {
    map.problem(map.place(), map.name(key) + " has to be [graphics, SM, memory, video] in MHz");
  }
}

void read_clock_row(const Node& node, const std::string& what, MapReader& group,
                    ProductClocks& out) {
  MapReader map(node, what, group.problems());
  ProductClocks::Row row;
  map.number("memory", row.memory, 1, 20000, Need::required);
  map.number("from", row.graphics_min, 1, 20000, Need::required);
  map.number("to", row.graphics_max, row.graphics_min, 20000, Need::required);
  map.number("step", row.step, 1, 1000, Need::required);
  map.finish();
  out.rows.push_back(row);
}

void read_clocks(MapReader& file, Product& product) {
  Group group(file, "clocks", Need::required, product);
  if (!group) return;
  ProductClocks& out = product.clocks;
  clock_set(*group, "max_mhz", out.max, Need::required);
  clock_set(*group, "idle_mhz", out.idle, Need::required);
  out.busy = out.max;
  clock_set(*group, "busy_mhz", out.busy, Need::optional);
  clock_set(*group, "customer_boost_mhz", out.customer_boost, Need::optional);
  clock_set(*group, "application_mhz", out.application, Need::optional);
  group->number("idle_pstate", out.idle_pstate, 0, 15);
  group->each("supported", Need::optional, [&](const Node& node, const std::string& what) {
    read_clock_row(node, what, *group, out);
  });
  group->number("reasons", out.supported_reasons, 0, 0xFFFF, Need::required);
}

void read_power(MapReader& file, Product& product) {
  Group group(file, "power", Need::required, product);
  if (!group) return;
  ProductPower& out = product.power;
  group->number("default_mw", out.default_mw, 1000, 5'000'000, Need::required);
  group->number("min_mw", out.min_mw, 1000, 5'000'000);
  group->number("max_mw", out.max_mw, 1000, 5'000'000);
  if (out.max_mw != 0 && (out.min_mw > out.default_mw || out.default_mw > out.max_mw)) {
    group->problem(group->place(), "power has to hold min_mw <= default_mw <= max_mw");
  }
}

void celsius(MapReader& map, std::string_view key, std::optional<int>& out) {
  int value = -1;
  map.number(key, value, 1, 150);
  if (value > 0) out = value;
}

void read_thermal(MapReader& file, Product& product) {
  Group group(file, "thermal", Need::required, product);
  if (!group) return;
  celsius(*group, "shutdown", product.thermal.shutdown);
  celsius(*group, "slowdown", product.thermal.slowdown);
  celsius(*group, "memory_max", product.thermal.memory_max);
  celsius(*group, "gpu_max", product.thermal.gpu_max);
  group->number("fans", product.thermal.fans, 0, 8);
  if (product.thermal.slowdown && product.thermal.shutdown &&
      *product.thermal.slowdown > *product.thermal.shutdown) {
    group->problem(group->place(), "thermal.slowdown is above thermal.shutdown");
  }
}

void read_ecc(MapReader& file, Product& product) {
  Group group(file, "ecc", Need::optional, product);
  if (!group) return;
  ProductEcc& out = product.ecc;
  out.supported = true;
  group->flag("enabled", out.enabled, Need::required);
  group->number("remap_banks", out.remap_banks, 0, 1'000'000);
  group->flag("retired_pages", out.retired_pages);
  const auto words = words_of(memory_locations);
  group->each("locations", Need::required, [&](const Node& node, const std::string& what) {
    if (const auto number = number_of(memory_locations, node.text)) {
      out.locations.push_back(static_cast<std::uint32_t>(*number));
    } else {
      group->problem(node.place, what + " has to be one of " + listed(words));
    }
  });
}

void read_modes(MapReader& file, Product& product) {
  Group group(file, "modes", Need::required, product);
  if (!group) return;
  group->flag("display", product.modes.display);
  group->flag("adaptive_clock", product.modes.adaptive_clock);
  group->number("accounting_buffer", product.modes.accounting_buffer, 0, 1'000'000);
}

// [id, live|constant, type, value]; the value may be left out.
void read_field_row(const Node& node, const std::string& what, yaml::Problems& problems,
                    std::vector<ProductField>& out) {
  const bool shape =
      node.kind == Node::Kind::list && (node.items.size() == 3 || node.items.size() == 4);
  if (!shape) {
    problems.add(node.place, what + " has to be [id, live or constant, type, value]");
    return;
  }
  ProductField field;
  const auto id = yaml::whole_number(node.items[0], what + " (id)", 1, max_field_id, problems);
  const std::string& kind = node.items[1].text;
  if (kind != "live" && kind != "constant") {
    problems.add(node.items[1].place, what + " has to say live or constant, not '" + kind + "'");
  }
  const auto type = number_of(value_types, node.items[2].text);
  if (!type) {
    problems.add(node.items[2].place, what + " has to have a type out of " +
                                          listed(words_of(value_types)) + ", not '" +
                                          node.items[2].text + "'");
  }
  std::int64_t value = 0;
  if (node.items.size() == 4) {
    value = yaml::whole_number(node.items[3], what + " (value)", 0, top, problems).value_or(0);
  }
  if (!id || !type) return;
  field.id = static_cast<std::uint32_t>(*id);
  field.source = kind == "live" ? FieldSourceKind::live : FieldSourceKind::constant;
  field.type = static_cast<std::uint32_t>(*type);
  field.value = static_cast<std::uint64_t>(value);
  out.push_back(field);
}

// Maps return code words to lists; `take(code, item, what)` for each item.
template <typename Take>
void by_code(MapReader& group, const Take& take) {
  for (const auto& row : return_codes) {
    group.each(row.word, Need::optional, [&](const Node& item, const std::string& what) {
      take(static_cast<int>(row.number), item, what);
    });
  }
}

void refuse_doubles(const std::vector<ProductField>& fields, MapReader& group) {
  std::set<std::uint32_t> seen;
  for (const auto& field : fields) {
    if (!seen.insert(field.id).second) {
      group.problem(group.place(), "field id " + std::to_string(field.id) + " stands twice");
    }
  }
}

void read_fields(MapReader& file, Product& product) {
  Group group(file, "fields", Need::required, product);
  if (!group) return;
  group->each("rows", Need::required, [&](const Node& node, const std::string& what) {
    read_field_row(node, what, group->problems(), product.fields);
  });
  std::vector<std::uint32_t> untouched;
  group->numbers("untouched", untouched, 1, max_field_id);
  for (const auto id : untouched) {
    product.fields.push_back({.id = id, .source = FieldSourceKind::untouched});
  }
  by_code(*group, [&](int code, const Node& item, const std::string& what) {
    if (const auto id = yaml::whole_number(item, what, 1, max_field_id, group->problems())) {
      product.fields.push_back({.id = static_cast<std::uint32_t>(*id),
                                .source = FieldSourceKind::refused,
                                .code = code});
    }
  });
  refuse_doubles(product.fields, *group);
}

void read_nvlink(MapReader& file, Product& product) {
  Group group(file, "nvlink", Need::optional, product);
  if (!group) return;
  ProductNvLink link;
  group->number("links", link.links, 1, 36, Need::required);
  group->number("version_code", link.version_code, 1, 8, Need::required);
  group->number("speed_mbps", link.speed_mbps, 1, 1'000'000, Need::required);
  group->each("fields", Need::optional, [&](const Node& node, const std::string& what) {
    read_field_row(node, what, group->problems(), product.nvlink_fields);
  });
  refuse_doubles(product.nvlink_fields, *group);
  product.nvlink = link;
}

void read_answers(MapReader& file, Product& product) {
  Group group(file, "answers", Need::optional, product);
  if (!group) return;
  by_code(*group, [&](int code, const Node& item, const std::string& what) {
    if (!item.text.starts_with("nvml")) {
      group->problem(item.place, what + " has to name an NVML function");
      return;
    }
    product.answers.push_back({item.text, code});
  });
}

void read_mig_profile(const Node& node, const std::string& what, MigGeometry& geometry,
                      yaml::Problems& problems) {
  MapReader map(node, what, problems);
  MigProfile out;
  out.name = text_at(map, "name", Need::required);
  map.number("number", out.number, 0, 17, Need::required);
  map.number("id", out.id, 0, 255, Need::required);
  map.number("slices", out.slices, 1, 8, Need::required);
  map.number("instances", out.instances, 1, 8, Need::required);
  map.number("multiprocessors", out.multiprocessors, 1, 1000, Need::required);
  map.number("memory_mib", out.memory_mib, 1, 16'000'000, Need::required);
  map.number("copy_engines", out.copy_engines, 0, 64);
  map.number("decoders", out.decoders, 0, 64);
  map.number("encoders", out.encoders, 0, 64);
  map.number("jpeg_engines", out.jpeg_engines, 0, 64);
  map.number("ofa_engines", out.ofa_engines, 0, 64);
  map.number("size", out.size, 1, 8, Need::required);
  map.numbers("starts", out.starts, 0, 7, Need::required);
  map.finish();
  if (out.starts.size() > max_starts) {
    problems.add(node.place, what + ".starts lists more than 8 places");
    out.starts.resize(max_starts);
  }
  for (const auto start : out.starts) {
    if (start + out.size > geometry.memory_slices) {
      problems.add(node.place, what + " reaches beyond the " +
                                   std::to_string(geometry.memory_slices) +
                                   " memory slices of the card");
    }
  }
  geometry.profiles.push_back(std::move(out));
}

void read_mig(MapReader& file, Product& product) {
  Group group(file, "mig", Need::optional, product);
  if (!group) return;
  MigGeometry out;
  group->number("memory_slices", out.memory_slices, 1, 8, Need::required);
  group->number("compute_slices", out.compute_slices, 1, 8, Need::required);
  group->number("slice_multiprocessors", out.slice_multiprocessors, 1, 1000, Need::required);
  group->flag("needs_reset", out.needs_reset);
  group->texts("inferred", out.inferred);
  group->each("profiles", Need::required, [&](const Node& node, const std::string& what) {
    read_mig_profile(node, what, out, group->problems());
  });
  product.mig = std::move(out);
}

void read_model(MapReader& file, Product& product) {
  Group group(file, "model", Need::required, product);
  if (!group) return;
  ProductModel& out = product.model;
  group->number("idle_mw", out.idle_mw, 1, 5'000'000, Need::required);
  group->number("held_mw", out.held_mw, 1, 5'000'000, Need::required);
  group->number("full_mw", out.full_mw, 1, 5'000'000, Need::required);
  group->number("idle_celsius", out.idle_celsius, 1, 120, Need::required);
  group->number("full_celsius", out.full_celsius, 1, 120, Need::required);
  group->number("memory_above_celsius", out.memory_above_celsius, -50, 50);
  group->number("thermal_time_ms", out.thermal_time_ms, 1, 10'000'000, Need::required);
  group->number("pcie_bytes_per_second", out.pcie_bytes_per_second, 1, top, Need::required);
}

}  // namespace

Result<Product> parse_product(std::string_view text, const std::string& file) {
  const auto root = yaml::parse(text, file);
  if (!root) return fail(root.error());
  yaml::Problems problems(file);
  Product product;
  MapReader map(*root, "", problems);
  map.text("name", product.name, Need::required);
  read_identity(map, product);
  read_pci(map, product);
  read_memory(map, product);
  read_clocks(map, product);
  read_power(map, product);
  read_thermal(map, product);
  read_ecc(map, product);
  read_modes(map, product);
  read_nvlink(map, product);
  read_fields(map, product);
  read_answers(map, product);
  read_mig(map, product);
  read_model(map, product);
  map.finish();
  if (!problems.none()) return fail(problems.error());
  return product;
}

}  // namespace stoker::catalog
