#include "api/owner_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "api/gpu_cells.h"
#include "model/wrap.h"

namespace stoker::api {
namespace {

constexpr std::size_t short_id = 12;  // of a container, as docker prints it

// "research/trainer-0" of {"namespace","name"}; the pod's UID where the name is not known.
std::string pod_name(const Json& pod) {
  const auto name = text_of(pod, "name");
  if (!name.empty()) return text_of(pod, "namespace") + "/" + name;
  const auto uid = text_of(pod, "uid");
  return uid.empty() ? reason_cell(pod, "name") : "pod " + uid;
}

std::string job_name(const Json& job) {
  const auto array = text_of(job, "array");
  return array.empty() ? text_of(job, "id") : array;
}

void add_once(std::vector<std::string>& all, std::string one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
}

// Pods with the shares that each has.
std::vector<std::pair<std::string, std::string>> holders_of(const Json& device) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const Json& holder : list_of(device, "holders")) {
    const auto name = pod_name(list_of(holder, "pod"));
    auto at = std::ranges::find(found, name, [](const auto& one) { return one.first; });
    if (at == found.end()) at = found.insert(found.end(), {name, ""});
    if (const auto share = text_of(holder, "replica"); !share.empty()) {
      at->second += (at->second.empty() ? "" : ",") + share;
    }
  }
  return found;
}

bool is_on(const Json& process, const Json* mig) {
  if (mig == nullptr) return text_of(process, "gpu_instance_reason") == "not_applicable";
  return number_of(process, "gpu_instance") == number_of(*mig, "gpu_instance") &&
         number_of(process, "compute_instance") == number_of(*mig, "compute_instance") &&
         text_of(process, "gpu_instance_reason").empty();
}

bool has(const std::string& text, const std::string& part) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::ranges::search(text, part, same).begin() != text.end() || part.empty();
}

std::string_view mark_of(bool unicode) { return unicode ? "…" : "~"; }

}  // namespace

std::string user_cell(const Json& process) {
  auto user = text_of(process, "user");
  return user.empty() ? number_cell(process, "uid") : user;
}

std::string pod_cell(const Json& process) {
  const Json& pod = list_of(process, "pod");
  return pod.empty() ? reason_cell(process, "pod") : pod_name(pod);
}

std::string container_cell(const Json& process) {
  if (const Json& pod = list_of(process, "pod"); !text_of(pod, "container").empty()) {
    return text_of(pod, "container");
  }
  const auto id = text_of(process, "container_id");
  return id.empty() ? reason_cell(process, "container_id") : id.substr(0, short_id);
}

std::string job_cell(const Json& process) {
  const Json& job = list_of(process, "job");
  if (job.empty()) return reason_cell(process, "job");
  std::string cell = job_name(job);
  if (const auto step = text_of(job, "step"); !step.empty()) cell += "." + step;
  if (const auto name = text_of(job, "name"); !name.empty()) cell += " " + name;
  return cell;
}

std::string owner_cell(const Json& process) {
  if (!list_of(process, "job").empty()) return "job " + job_cell(process);
  if (!list_of(process, "pod").empty()) return pod_cell(process);
  const auto runtime = text_of(process, "runtime");
  return runtime.empty() ? container_cell(process) : runtime + " " + container_cell(process);
}

bool mentions(const Json& process, const std::string& part) {
  const Json& pod = list_of(process, "pod");
  const Json& job = list_of(process, "job");
  const std::array<std::string, 12> texts = {
      text_of(process, "name"),    fmt::format("{}", number_of(process, "pid")),
      text_of(process, "user"),    text_of(process, "container_id"),
      text_of(process, "runtime"), pod.empty() ? "" : pod_name(pod),
      text_of(pod, "container"),   text_of(pod, "uid"),
      text_of(job, "id"),          text_of(job, "array"),
      text_of(job, "name"),        job.empty() ? "" : owner_cell(process)};
  return std::ranges::any_of(texts, [&part](const auto& text) { return has(text, part); });
}

std::vector<std::string> device_owners(const Json& gpu, const Json* mig) {
  std::vector<std::string> owners;
  for (const auto& [name, shares] : holders_of(mig == nullptr ? gpu : *mig)) {
    owners.push_back(shares.empty() ? name : fmt::format("{} (share {})", name, shares));
  }
  for (const Json& process : list_of(gpu, "processes")) {
    const Json& job = list_of(process, "job");
    if (!job.empty() && is_on(process, mig)) add_once(owners, "job " + job_name(job));
  }
  return owners;
}

std::vector<std::string> card_owners(const Json& gpu) {
  std::vector<std::string> owners;
  const auto take = [&owners](const Json& device) {
    for (const auto& [name, shares] : holders_of(device)) add_once(owners, name);
  };
  take(gpu);
  for (const Json& mig : list_of(gpu, "mig_devices")) take(mig);
  for (const Json& process : list_of(gpu, "processes")) {
    if (const Json& job = list_of(process, "job"); !job.empty()) {
      add_once(owners, "job " + job_name(job));
    }
  }
  return owners;
}

std::string first_of(const std::vector<std::string>& owners) {
  if (owners.empty()) return "";
  return owners.size() == 1 ? owners.front()
                            : fmt::format("{} +{}", owners.front(), owners.size() - 1);
}

std::vector<std::string> why_no_owners(const Json& attribution) {
  std::vector<std::string> lines;
  for (const auto& [key, what] : {std::pair{"processes", "owners"}, std::pair{"pods", "pods"}}) {
    const Json& source = list_of(attribution, key);
    const auto state = text_of(source, "state");
    // A node without a kubelet has no pods; nothing is wrong with it.
    const bool none = std::string_view(key) == "pods" && state == "no_source";
    if (state.empty() || state == "ok" || state == "pending" || none) continue;
    const auto detail = text_of(source, "detail");
    lines.push_back(fmt::format("{} unknown: {}", what, detail.empty() ? state : detail));
  }
  return lines;
}

std::string cut_pod(const std::string& text, std::size_t width, bool unicode) {
  if (text.find('/') == std::string::npos) return cut_end(text, width, unicode);
  return cut_front(text, width, mark_of(unicode));
}

std::string cut_end(const std::string& text, std::size_t width, bool unicode) {
  return stoker::cut_end(text, width, mark_of(unicode));
}

}  // namespace stoker::api
