#include "catalog/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "catalog/sxid.h"
#include "catalog/xid.h"
#include "model/wrap.h"

namespace stoker {
namespace {

using Known = XidReading::Known;

constexpr std::string_view not_documented = "not documented";

// "  level        hardware", with what is too long going on below its beginning.
void add(std::string& out, std::string_view name, const std::string& text, std::size_t width) {
  constexpr std::size_t label = 15;
  append_labelled(out, name, text, width, label);
}

std::string level_of(const Xid& xid) {
  return xid.level ? to_string(*xid.level) : std::string(not_documented);
}

std::string bucket_of(std::string_view bucket) {
  if (bucket.empty()) return "NVIDIA publishes nothing";
  return fmt::format("{} (NVIDIA: {})", xid_bucket_words(bucket), bucket);
}

// The products that NVIDIA's catalogue marks with `mark`, y or n.
std::vector<std::string> products_of(const Xid& xid, char mark) {
  static constexpr std::array<const char*, 4> names = {"A100", "H100", "B100", "GB200"};
  std::vector<std::string> products;
  for (std::size_t n = 0; n < xid.products.size() && n < names.size(); ++n) {
    if (xid.products[n] == mark) products.emplace_back(names[n]);
  }
  return products;
}

std::string applies_to(const Xid& xid) {
  if (xid.products.empty()) return std::string(not_documented);
  const auto yes = products_of(xid, 'y');
  const auto no = products_of(xid, 'n');
  if (no.empty()) return fmt::format("{}", fmt::join(yes, ", "));
  return fmt::format("{}{}not {}", fmt::join(yes, ", "), yes.empty() ? "" : "; ",
                     fmt::join(no, ", "));
}

// "HDA" of gcm.
std::string causes_of(std::string_view letters) {
  struct Cause {
    char letter;
    const char* words;
  };
  static constexpr std::array<Cause, 7> causes = {{{'H', "hardware"},
                                                   {'D', "driver"},
                                                   {'A', "application"},
                                                   {'M', "system memory"},
                                                   {'B', "bus"},
                                                   {'T', "thermal"},
                                                   {'F', "framebuffer"}}};
  std::vector<std::string> found;
  for (const char letter : letters) {
    for (const auto& cause : causes) {
      if (cause.letter == letter) found.emplace_back(cause.words);
    }
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

std::string peers_of(const XidPeers& peers) {
  std::vector<std::string> said;
  said.push_back(
      fmt::format("DCGM 4.6 health: {}", peers.dcgm.empty() ? "does not look at it" : peers.dcgm));
  if (!peers.gpud.empty()) said.push_back(fmt::format("gpud: {}", peers.gpud));
  if (peers.ignored_by_device_plugin)
    said.emplace_back("NVIDIA's device plugin never calls a GPU unhealthy for it");
  if (peers.fails_azure_node) said.emplace_back("Azure's health checks fail the node");
  return fmt::format("{} (R reboot, H inspect the hardware, A check the application, I ignore)",
                     fmt::join(said, "; "));
}

std::string defined_since(const Xid& xid) {
  if (xid.since.empty()) return "not defined in the driver's public header";
  if (xid.since == oldest_driver_tag) return fmt::format("{} or earlier", oldest_driver_tag);
  return std::string(xid.since);
}

void add_facts(std::string& out, const Xid& xid, std::size_t width) {
  add(out, "level", level_of(xid), width);
  add(out, "action", to_string(xid.action), width);
  add(out, "at once", bucket_of(xid.immediate), width);
  if (!xid.then.empty()) add(out, "then", bucket_of(xid.then), width);
  if (xid.recovery)
    add(out, "", "NVIDIA links it to Xid 154: where the log has one, do what that says.", width);
  add(out, "products", applies_to(xid), width);
  add(out, "driver", defined_since(xid), width);
  if (const auto* peers = find_xid_peers(xid.number)) {
    if (!peers->causes.empty())
      add(out, "causes", causes_of(peers->causes) + ", after Meta's gcm", width);
    add(out, "others", peers_of(*peers), width);
  }
  bool first = true;
  for (const auto note : xid_notes(xid.number)) {
    add(out, first ? "look at" : "", std::string(note), width);
    first = false;
  }
}

void add_meanings(std::string& out, std::uint64_t number, std::size_t width) {
  bool first = true;
  for (const auto& meaning : xid_meanings(number)) {
    add(out, first ? "by driver" : "",
        fmt::format("from {} on: {}", meaning.since, meaning.mnemonic), width);
    first = false;
  }
}

void write_or_null(JsonWriter& json, std::string_view name, std::string_view text) {
  if (text.empty()) {
    json.key(name).null().member(fmt::format("{}_reason", name), "not_documented");
  } else {
    json.member(name, text);
  }
}

void write_facts(JsonWriter& json, const Xid& xid) {
  write_or_null(json, "text", xid.text == "Unused" ? std::string_view{} : xid.text);
  write_or_null(json, "level",
                xid.level ? std::string_view(to_string(*xid.level)) : std::string_view{});
  json.member("action", to_string(xid.action));
  write_or_null(json, "immediate", xid.immediate);
  write_or_null(json, "investigation", xid.then);
  json.member("recovery_action", xid.recovery);
  json.key("products").begin_array();
  for (const auto& product : products_of(xid, 'y')) json.value(product);
  json.end_array();
  write_or_null(json, "driver_since", xid.since);
  json.key("notes").begin_array();
  for (const auto note : xid_notes(xid.number)) json.value(note);
  json.end_array();
  const auto* peers = find_xid_peers(xid.number);
  write_or_null(json, "dcgm", peers == nullptr ? std::string_view{} : peers->dcgm);
  write_or_null(json, "gpud", peers == nullptr ? std::string_view{} : peers->gpud);
  json.member("device_plugin_ignores", peers != nullptr && peers->ignored_by_device_plugin);
  json.member("azure_fails_node", peers != nullptr && peers->fails_azure_node);
}

void write_unknown_facts(JsonWriter& json) {
  for (const char* name : {"text", "level"}) write_or_null(json, name, {});
  json.member("action", to_string(Action::contact_vendor));
}

}  // namespace

std::optional<std::string> explain_xid(std::uint64_t number,
                                       const std::optional<DriverVersion>& driver,
                                       std::size_t width) {
  const auto read = read_xid_number(number, driver);
  if (read.known == Known::no || read.known == Known::not_defined) return std::nullopt;
  std::string out = fmt::format("Xid {}: {}\n", number,
                                read.facts == nullptr ? not_documented : read.facts->text);
  add(out, "name", std::string(read.mnemonic), width);
  if (read.known == Known::other_meaning) {
    add(out, "",
        read.facts == nullptr
            ? "This driver's meaning of the number is not documented."
            : fmt::format("For this driver it means what Xid {} means now.", read.facts->number),
        width);
  }
  if (read.facts != nullptr) {
    add_facts(out, *read.facts, width);
  } else {
    add(out, "action", to_string(Action::contact_vendor), width);
  }
  add_meanings(out, number, width);
  add(out, "source", std::string(xid_source(read.facts == nullptr ? number : read.facts->number)),
      width);
  return out;
}

std::optional<std::string> explain_sxid(std::uint64_t number, std::size_t width) {
  const auto sxid = find_sxid(number);
  if (sxid.number == 0) return std::nullopt;
  std::string out = fmt::format("SXid {}: {}\n", number, sxid.text.empty() ? sxid.name : sxid.text);
  add(out, "name", std::string(sxid.name), width);
  add(out, "level", "link", width);
  add(out, "class", to_string(sxid.kind), width);
  add(out, "action", to_string(sxid.action), width);
  if (!sxid.gpud.empty()) {
    add(out, "others", fmt::format("gpud: {} (R reboot, H inspect the hardware)", sxid.gpud),
        width);
  }
  add(out, "look at",
      "The line's own severity (Fatal, Non-fatal, Correctable), its link, and SXids of the other "
      "switches.",
      width);
  add(out, "source", std::string(sxid.source), width);
  return out;
}

bool write_xid(JsonWriter& json, std::uint64_t number, const std::optional<DriverVersion>& driver) {
  const auto read = read_xid_number(number, driver);
  if (read.known == Known::no || read.known == Known::not_defined) return false;
  json.begin_object().member("kind", "xid").member("code", number).member("name", read.mnemonic);
  if (read.facts != nullptr) {
    write_facts(json, *read.facts);
  } else {
    write_unknown_facts(json);
  }
  json.key("meanings").begin_array();
  for (const auto& meaning : xid_meanings(number)) {
    json.begin_object()
        .member("driver_since", meaning.since)
        .member("name", meaning.mnemonic)
        .end_object();
  }
  json.end_array();
  json.member("source", xid_source(read.facts == nullptr ? number : read.facts->number))
      .end_object();
  return true;
}

bool write_sxid(JsonWriter& json, std::uint64_t number) {
  const auto sxid = find_sxid(number);
  if (sxid.number == 0) return false;
  json.begin_object().member("kind", "sxid").member("code", number).member("name", sxid.name);
  write_or_null(json, "text", sxid.text);
  json.member("level", "link");
  write_or_null(json, "class", sxid.kind == SxidClass::not_documented ? "" : to_string(sxid.kind));
  json.member("action", to_string(sxid.action));
  write_or_null(json, "gpud", sxid.gpud);
  json.member("source", sxid.source).end_object();
  return true;
}

}  // namespace stoker
