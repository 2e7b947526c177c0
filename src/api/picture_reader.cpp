#include "api/picture_reader.h"

#include <fmt/format.h>

#include "api/document_reader.h"

namespace stoker::api {
namespace {

std::string pod_of(const Json& owner) {
  const Json& pod = list_of(owner, "pod");
  const std::string name = text_of(pod, "name");
  return name.empty() ? "" : text_of(pod, "namespace") + "/" + name;
}

doctor::WorkPicture read_work(const Json& process) {
  doctor::WorkPicture work;
  work.pid = static_cast<std::uint32_t>(number_of(process, "pid"));
  work.name = text_of(process, "name");
  if (process.contains("memory_bytes") && process["memory_bytes"].is_number()) {
    work.memory_bytes = number_of(process, "memory_bytes");
  }
  work.pod = pod_of(process);
  work.job = text_of(list_of(process, "job"), "id");
  return work;
}

void read_numbers(const Json& object, std::map<std::string, double, std::less<>>& numbers) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_number()) numbers[key] = value.get<double>();
  }
}

doctor::CardPicture read_card(const Json& gpu) {
  constexpr std::string_view reason_end = "_reason";
  doctor::CardPicture card;
  card.index = static_cast<int>(number_of(gpu, "index"));
  card.uuid = text_of(gpu, "uuid");
  card.pci = text_of(gpu, "pci");
  card.product = text_of(gpu, "name");
  card.state = text_of(gpu, "state");
  card.detail = text_of(gpu, "state_detail");
  card.mig = flag_of(gpu, "mig_enabled");
  read_numbers(gpu, card.readings);
  read_numbers(list_of(gpu, "limits"), card.limits);
  for (const auto& [key, value] : gpu.items()) {
    if (key.ends_with(reason_end) && value.is_string()) {
      card.reasons[key.substr(0, key.size() - reason_end.size())] = value.get<std::string>();
    }
  }
  for (const Json& process : list_of(gpu, "processes")) card.works.push_back(read_work(process));
  card.works_unknown = text_of(gpu, "processes_reason");
  for (const Json& holder : list_of(gpu, "holders")) {
    if (const auto pod = pod_of(holder); !pod.empty()) card.pods.push_back(pod);
  }
  card.pods_unknown = text_of(gpu, "holders_reason");
  if (card.pods_unknown == "no_source") card.pods_unknown = "no kubelet is seen on this node";
  // Replicas and MIG devices are held one by one.
  for (const Json& mig : list_of(gpu, "mig_devices")) {
    for (const Json& holder : list_of(mig, "holders")) {
      if (const auto pod = pod_of(holder); !pod.empty()) card.pods.push_back(pod);
    }
    for (const Json& process : list_of(mig, "processes")) card.works.push_back(read_work(process));
  }
  return card;
}

doctor::EventPicture read_event(const Json& event) {
  return {.time = text_of(event, "time"),
          .kind = text_of(event, "kind"),
          .sign = text_of(event, "sign"),
          .process = text_of(event, "process"),
          .pid = static_cast<std::uint32_t>(number_of(event, "pid")),
          .pci = text_of(event, "pci"),
          .text = text_of(event, "text")};
}

}  // namespace

Result<doctor::NodePicture> read_picture(const std::string& gpus, const std::string& status,
                                         const std::string& events) {
  const auto of_gpus = read_document(gpus);
  const auto of_status = read_document(status);
  const auto of_events = read_document(events);
  for (const auto* document : {&of_gpus, &of_status, &of_events}) {
    if (!*document) return fail(document->error());
  }
  doctor::NodePicture picture;
  picture.time = text_of(*of_status, "time");
  picture.host = text_of(list_of(*of_status, "node"), "hostname");
  for (const Json& gpu : list_of(*of_gpus, "gpus")) picture.cards.push_back(read_card(gpu));
  for (const Json& finding : list_of(*of_status, "findings"))
    picture.findings.push_back(read_finding(finding));
  for (const Json& event : list_of(*of_events, "events"))
    picture.events.push_back(read_event(event));
  bool followed = false;
  std::string problem = "no log of the kernel is followed";
  for (const Json& source : list_of(*of_events, "sources")) {
    followed = followed || flag_of(source, "followed");
    if (const auto text = text_of(source, "problem"); !text.empty())
      problem = text_of(source, "name") + ": " + text;
  }
  if (!followed) picture.events_unknown = problem;
  return picture;
}

}  // namespace stoker::api
