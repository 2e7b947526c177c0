#include "cluster/kubernetes/api/documents.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace stoker::kubernetes {
namespace {

using nlohmann::json;

// The apiserver itself takes no object that is nested more deeply than this in what people write, and the library
// writes by recursion.
constexpr int deepest = 128;

Result<json> parse(std::string_view text) {
  bool too_deep = false;
  const json::parser_callback_t look = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > deepest) too_deep = true;
    const bool left_out = event == json::parse_event_t::key && value == "managedFields";
    return !too_deep && !left_out;
  };
  json root = json::parse(text, look, /*allow_exceptions=*/false);
  if (too_deep) return fail(ErrorCode::corrupt, "the answer is nested too deeply");
  if (!root.is_object()) return fail(ErrorCode::corrupt, "the answer is no JSON object");
  return root;
}

std::string text_at(const json& map, const char* key) {
  if (!map.is_object()) return {};
  const auto found = map.find(key);
  return found == map.end() || !found->is_string() ? std::string() : found->get<std::string>();
}

// An empty one where there is none.
const json& member_at(const json& map, const char* key) {
  static const json nothing;
  if (!map.is_object()) return nothing;
  const auto found = map.find(key);
  return found == map.end() ? nothing : *found;
}

std::string dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool has_word(const json& list, const char* word) {
  if (!list.is_array()) return false;
  for (const auto& item : list) {
    if (item == word) return true;
  }
  return false;
}

}  // namespace

Result<std::vector<GroupVersion>> read_groups(std::string_view text) {
  const auto root = parse(text);
  if (!root) return fail(root.error());
  if (!member_at(*root, "groups").is_array())
    return fail(ErrorCode::corrupt, "the answer is no list of API groups");
  std::vector<GroupVersion> groups;
  for (const auto& each : member_at(*root, "groups")) {
    GroupVersion group{text_at(each, "name"),
                       text_at(member_at(each, "preferredVersion"), "version")};
    if (!group.group.empty() && !group.version.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

Result<std::vector<Resource>> read_resources(std::string_view text) {
  const auto root = parse(text);
  if (!root) return fail(root.error());
  const auto group_version = text_at(*root, "groupVersion");
  if (group_version.empty() || !member_at(*root, "resources").is_array())
    return fail(ErrorCode::corrupt, "the answer is no list of resources");
  const auto slash = group_version.find('/');
  std::vector<Resource> resources;
  for (const auto& each : member_at(*root, "resources")) {
    Resource resource;
    resource.group = slash == std::string::npos ? "" : group_version.substr(0, slash);
    resource.version = slash == std::string::npos ? group_version : group_version.substr(slash + 1);
    resource.plural = text_at(each, "name");
    resource.kind = text_at(each, "kind");
    resource.namespaced = member_at(each, "namespaced") == true;
    resource.listable = has_word(member_at(each, "verbs"), "list");
    if (resource.plural.empty() || resource.plural.find('/') != std::string::npos) continue;
    resources.push_back(std::move(resource));
  }
  return resources;
}

Result<Page> read_page(std::string_view text) {
  auto root = parse(text);
  if (!root) return fail(root.error());
  const auto kind = text_at(*root, "kind");
  const auto items = root->find("items");
  if (!std::string_view(kind).ends_with("List") || items == root->end() ||
      !(items->is_array() || items->is_null()))
    return fail(ErrorCode::corrupt, "the answer is no list");
  const auto version = text_at(*root, "apiVersion");
  if (version.empty()) return fail(ErrorCode::corrupt, "the list does not say its apiVersion");
  Page page;
  page.next = text_at(member_at(*root, "metadata"), "continue");
  if (items->is_null()) return page;
  page.objects.reserve(items->size());
  for (auto& item : *items) {
    if (!item.is_object())
      return fail(ErrorCode::corrupt, "the list has an item that is no object");
    if (text_at(item, "kind").empty()) item["kind"] = kind.substr(0, kind.size() - 4);
    if (text_at(item, "apiVersion").empty()) item["apiVersion"] = version;
    page.objects.push_back(dumped(item));
    item = nullptr;  // a page is in memory once
  }
  return page;
}

Status read_status(std::string_view text) {
  const auto root = parse(text);
  if (!root || text_at(*root, "kind") != "Status") return {};
  return {text_at(*root, "message"), text_at(*root, "reason")};
}

Result<PluginCredential> read_exec_credential(std::string_view text, std::string_view api_version) {
  const auto root = parse(text);
  if (!root) return fail(ErrorCode::corrupt, "it printed no JSON object");
  if (text_at(*root, "kind") != "ExecCredential" || text_at(*root, "apiVersion") != api_version) {
    return fail(ErrorCode::corrupt,
                fmt::format("it printed {} of {}, and not an ExecCredential of {}",
                            text_at(*root, "kind"), text_at(*root, "apiVersion"), api_version));
  }
  const json& status = member_at(*root, "status");
  PluginCredential credential{text_at(status, "token"), text_at(status, "clientCertificateData"),
                              text_at(status, "clientKeyData")};
  if (credential.token.empty() && (credential.certificate.empty() || credential.key.empty()))
    return fail(ErrorCode::corrupt, "it printed neither a token nor a certificate with its key");
  return credential;
}

}  // namespace stoker::kubernetes
