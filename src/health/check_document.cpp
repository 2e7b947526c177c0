#include "health/check_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/duration.h"
#include "base/json_text.h"
#include "health/check_text.h"
#include "model/wrap.h"

namespace stoker::health {
namespace {

void add(std::string& out, std::string_view label, const std::string& text, std::size_t width) {
  if (!text.empty()) append_labelled(out, label, text, width);
}

void add_head(std::string& out, const Check& check) {
  out += fmt::format("{}  {}{}\n", check.id, to_string(check.severity),
                     check.enabled ? "" : "  (not enabled)");
}

std::string applies(const Check& check) {
  if (check.architectures.empty() && check.products.empty()) return "";
  return fmt::format("{}{}{}", fmt::join(check.architectures, ", "),
                     check.architectures.empty() || check.products.empty() ? "" : "; ",
                     fmt::join(check.products, ", "));
}

// "5m after it began", "5m after it ended".
std::string times(const Check& check) {
  std::string text = fmt::format("fires after {}, ends after {}", duration_text(check.holds_for),
                                 duration_text(check.clear_for));
  if (check.boot_grace > Nanoseconds{0}) {
    text += fmt::format("; not before {} after the start", duration_text(check.boot_grace));
  }
  return text;
}

void write_list(JsonWriter& json, std::string_view key, const std::vector<std::string>& words) {
  json.key(key).begin_array();
  for (const std::string& word : words) json.value(word);
  json.end_array();
}

void write_check(JsonWriter& json, const Check& check) {
  json.begin_object()
      .member("id", check.id)
      .member("title", check.title)
      .member("kind", to_string(check.kind))
      .member("scope", to_string(check.scope))
      .member("enabled", check.enabled)
      .member("severity", to_string(check.severity))
      .member("action", to_string(check.action))
      .member("what", rule_text(check))
      .member("for_seconds", in_seconds(check.holds_for))
      .member("clear_for_seconds", in_seconds(check.clear_for))
      .member("consecutive", check.consecutive)
      .member("boot_grace_seconds", in_seconds(check.boot_grace))
      .member("cause", check.cause)
      .member("fix", check.fix)
      .member("source", check.source)
      .member_or_null("why", check.why)
      .member("file", check.file);
  write_list(json, "architectures", check.architectures);
  write_list(json, "products", check.products);
  json.end_object();
}

}  // namespace

std::string checks_table(std::span<const Check> checks, std::size_t width) {
  std::string out;
  for (const Check& check : checks) {
    add_head(out, check);
    add(out, "what", rule_text(check), width);
    add(out, "source", check.source, width);
  }
  return out;
}

std::string explain_check(const Check& check, std::size_t width) {
  std::string out;
  add_head(out, check);
  add(out, "title", check.title, width);
  add(out, "what", rule_text(check), width);
  add(out, "times", times(check), width);
  add(out, "about", applies(check), width);
  add(out, "why", check.cause, width);
  add(out, "do", fmt::format("{}: {}", to_string(check.action), check.fix), width);
  add(out, "source", check.source, width);
  add(out, "choice", check.why, width);
  add(out, "file", check.file, width);
  return out;
}

std::string explain_rule(const Rule& rule, std::size_t width) {
  std::string out = fmt::format("{}  {}\n", rule.name, to_string(rule.severity));
  add(out, "what",
      "what the agent sees of the node itself; no threshold, and nothing to change in checks.d",
      width);
  add(out, "why", std::string(rule.cause), width);
  add(out, "do",
      rule.fix.empty() ? to_string(rule.action)
                       : fmt::format("{}: {}", to_string(rule.action), rule.fix),
      width);
  add(out, "source", std::string(rule.source), width);
  return out;
}

std::string rule_json(const Rule& rule) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/check").key("checks").begin_array();
  json.begin_object()
      .member("id", rule.name)
      .member("kind", "rule")
      .member("severity", to_string(rule.severity))
      .member("action", to_string(rule.action))
      .member("cause", rule.cause)
      .member("fix", rule.fix)
      .member("source", rule.source)
      .end_object();
  json.end_array().end_object();
  return json.text();
}

std::string checks_json(std::span<const Check> checks) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/check").key("checks").begin_array();
  for (const Check& check : checks) write_check(json, check);
  json.end_array().end_object();
  return json.text();
}

}  // namespace stoker::health
