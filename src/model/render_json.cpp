// Ground stage: findings for programs: our JSON and SARIF.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/render.h"

namespace stoker {
namespace {

void member_or_null(JsonWriter& json, std::string_view key, int number) {
  if (number > 0) {
    json.member(key, number);
  } else {
    json.inapplicable(key);
  }
}

// SARIF section 3.27.10: note, warning, error.
std::string_view sarif_level(Severity severity) {
  switch (severity) {
    case Severity::info: return "note";
    case Severity::warning: return "warning";
    case Severity::error:
    case Severity::critical: break;
  }
  return "error";
}

// A path as the URI reference that SARIF section 3.4.3 wants.
std::string path_to_uri(std::string_view path) {
  constexpr std::string_view kept = "-._~/!$&'()*+,;=@";
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || kept.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

void write_sarif_location(JsonWriter& json, const Finding& finding) {
  json.key("locations").begin_array().begin_object();
  if (finding.location) {
    json.key("physicalLocation").begin_object();
    json.key("artifactLocation").begin_object();
    json.member("uri", path_to_uri(finding.location->file)).end_object();
    if (finding.location->line > 0) {
      json.key("region").begin_object().member("startLine", finding.location->line);
      if (finding.location->column > 0) json.member("startColumn", finding.location->column);
      json.end_object();
    }
    json.end_object();
  } else {
    json.key("logicalLocations").begin_array().begin_object();
    json.member("fullyQualifiedName", entity_word(finding.entity));
    json.member("kind", to_string(finding.entity.kind)).end_object().end_array();
  }
  json.end_object().end_array();
}

void write_sarif_result(JsonWriter& json, const Finding& finding, std::size_t rule_index) {
  std::string message = finding.message;
  if (!finding.cause.empty()) message += ". " + finding.cause;
  if (!finding.fix.empty()) message += ". " + finding.fix;
  json.begin_object().member("ruleId", finding.rule).member("ruleIndex", rule_index);
  json.member("level", sarif_level(finding.severity));
  json.key("message").begin_object().member("text", message).end_object();
  write_sarif_location(json, finding);
  json.key("properties");
  write_finding(json, finding);
  json.end_object();
}

}  // namespace

std::string entity_word(const Entity& entity) {
  return fmt::format("{}:{}", to_string(entity.kind), entity.id);
}

void write_finding(JsonWriter& json, const Finding& finding) {
  const FileLocation location = finding.location.value_or(FileLocation{});
  json.begin_object();
  json.member("rule", finding.rule);
  json.member("severity", to_string(finding.severity));
  json.member("state", to_string(finding.state));
  json.member_or_null("since", finding.since ? format_utc(*finding.since) : "");
  json.member("entity", entity_word(finding.entity));
  json.member_or_null("file", location.file);
  member_or_null(json, "line", location.line);
  member_or_null(json, "column", location.column);
  if (!finding.field.empty()) json.member("field", finding.field);
  json.member("message", finding.message);
  json.member_or_null("cause", finding.cause);
  json.member_or_null("action", finding.action ? to_string(*finding.action) : "");
  json.member_or_null("fix", finding.fix);
  json.member_or_null("source", finding.source);
  json.key("evidence").begin_array();
  for (const auto& line : finding.evidence) json.value(line);
  json.end_array().end_object();
}

std::string render_json(std::span<const Finding> findings) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/finding").key("findings").begin_array();
  for (const Finding& finding : findings) write_finding(json, finding);
  json.end_array().end_object();
  return json.text();
}

std::string render_sarif(std::span<const Finding> findings, std::string_view stoker_version) {
  std::map<std::string, const Finding*, std::less<>> rules;
  for (const Finding& finding : findings) rules.emplace(finding.rule, &finding);
  JsonWriter json;
  json.begin_object();
  json.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.member("version", "2.1.0");
  json.key("runs").begin_array().begin_object();
  json.key("tool").begin_object().key("driver").begin_object();
  json.member("name", "stoker").member("version", stoker_version).key("rules").begin_array();
  for (const auto& [id, finding] : rules) {
    json.begin_object().member("id", id);
    if (finding->source.starts_with("https://")) json.member("helpUri", finding->source);
    json.end_object();
  }
  json.end_array().end_object().end_object();
  json.key("results").begin_array();
  for (const Finding& finding : findings) {
    const auto index = std::distance(rules.begin(), rules.find(finding.rule));
    write_sarif_result(json, finding, static_cast<std::size_t>(index));
  }
  json.end_array().end_object().end_array().end_object();
  return json.text();
}

}  // namespace stoker
