#include "cluster/kubernetes/api/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace stoker::kubernetes {
namespace {

// RFC 3986: everything but unreserved characters; a `continue` token is base64 of some kind, and opaque.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string said_of(const Answer& answer) {
  const auto message = read_status(answer.body).message;
  return message.empty() ? fmt::format("the server answered {}", answer.status) : message;
}

// One list, which may be begun twice.
class Lister {
 public:
  Lister(Client& client, const Resource& resource, const ListOptions& options)
      : client_(client), path_(path_of(resource, options.name_space)), limit_(options.limit) {}

  ListResult run(const std::function<void(std::string_view)>& take,
                 const std::function<void()>& start_over) {
    while (true) {
      auto answer = client_.get(url());
      if (!answer) {
        if (answer.error().code() == ErrorCode::corrupt && limit_ > 1) {
          limit_ /= 2;  // pages were too long
          continue;
        }
        return end(ListOutcome::failed, answer.error().describe());
      }
      if (answer->status == 410 && !next_.empty() && !again_) {
        again_ = true;
        next_.clear();
        given_.clear();
        result_ = {};
        start_over();
        continue;
      }
      if (answer->status != 200) return end(outcome_of(answer->status), said_of(*answer));
      const auto page = read_page(answer->body);
      answer->body = std::string();
      if (!page) return end(ListOutcome::failed, page.error().describe());
      for (const auto& object : page->objects) take(object);
      result_.objects += page->objects.size();
      ++result_.pages;
      if (page->next.empty()) return result_;
      if (!given_.insert(page->next).second)
        return end(ListOutcome::failed, "the server gives the same page again");
      empty_ = page->objects.empty() ? empty_ + 1 : 0;
      if (empty_ == most_empty)
        return end(ListOutcome::failed, "the server gives pages without objects and no end");
      next_ = page->next;
    }
  }

 private:
  [[nodiscard]] std::string url() const {
    auto url = fmt::format("{}?limit={}", path_, limit_);
    if (!next_.empty()) url += "&continue=" + escaped(next_);
    return url;
  }

  static ListOutcome outcome_of(int status) {
    if (status == 403) return ListOutcome::forbidden;
    return status == 404 ? ListOutcome::not_served : ListOutcome::failed;
  }

  ListResult end(ListOutcome outcome, std::string reason) {
    result_.outcome = outcome;
    result_.reason = std::move(reason);
    return result_;
  }

  Client& client_;
  const std::string path_;
  std::size_t limit_;
  static constexpr std::size_t most_empty = 64;  // in a row

  std::string next_;
  std::set<std::string> given_;  // what the server said for `continue` so far
  std::size_t empty_ = 0;        // pages without objects in a row
  bool again_ = false;
  ListResult result_;
};

// The resources of `group` at `version`; an error with what was answered.
Result<std::vector<Resource>> resources_of(Client& client, const std::string& group,
                                           const std::string& version) {
  const auto path = group.empty() ? "/api/" + version : fmt::format("/apis/{}/{}", group, version);
  const auto answer = client.get(path);
  if (!answer) return fail(answer.error());
  if (answer->status != 200) return fail(ErrorCode::unavailable, said_of(*answer));
  return read_resources(answer->body);
}

}  // namespace

std::string path_of(const Resource& resource, std::string_view name_space) {
  std::string path = resource.group.empty()
                         ? "/api/" + resource.version
                         : fmt::format("/apis/{}/{}", resource.group, resource.version);
  if (resource.namespaced && !name_space.empty())
    path += fmt::format("/namespaces/{}", escaped(name_space));
  return fmt::format("{}/{}", path, resource.plural);
}

Result<Served> find_served(Client& client, const std::vector<KindName>& kinds) {
  const auto answer = client.get("/apis");
  if (!answer) return fail(answer.error());
  if (answer->status != 200) {
    return fail(ErrorCode::unavailable,
                fmt::format("{}: {}", client.access().server, said_of(*answer)));
  }
  const auto groups = read_groups(answer->body);
  if (!groups) return fail(groups.error());
  std::map<std::string, std::string, std::less<>> versions = {{"", "v1"}};
  for (const auto& each : *groups) versions.emplace(each.group, each.version);

  Served served;
  std::map<std::string, std::vector<Resource>, std::less<>> known;
  for (const auto& kind : kinds) {
    const auto version = versions.find(kind.group);
    if (version == versions.end()) {
      served.absent.push_back(kind);
      continue;
    }
    if (!known.contains(kind.group)) {
      auto resources = resources_of(client, kind.group, version->second);
      if (!resources) {
        const auto same = [&](const auto& each) { return each.first == kind.group; };
        if (std::ranges::none_of(served.unknown, same))
          served.unknown.emplace_back(kind.group, resources.error().describe());
        continue;
      }
      known.emplace(kind.group, *std::move(resources));
    }
    const auto& of_group = known.find(kind.group)->second;
    const auto found = std::ranges::find_if(
        of_group, [&](const Resource& each) { return each.kind == kind.kind && each.listable; });
    if (found == of_group.end()) {
      served.absent.push_back(kind);
    } else {
      served.resources.push_back(*found);
    }
  }
  return served;
}

ListResult list_objects(Client& client, const Resource& resource, const ListOptions& options,
                        const std::function<void(std::string_view)>& take,
                        const std::function<void()>& start_over) {
  return Lister(client, resource, options).run(take, start_over);
}

}  // namespace stoker::kubernetes
