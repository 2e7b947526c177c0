#include "api/owner_members.h"

#include <array>
#include <utility>

#include "api/documents.h"
#include "store/device_owners.h"

namespace stoker::api {
namespace {

// What is missing although everybody answered: nothing on this node tells it.
constexpr Reason unnamed = Reason::no_source;

// The names of a container; its UID too, which a process's cgroup has and the kubelet's list does not.
void write_container(JsonWriter& json, const PodContainer& in, Reason unknown) {
  member_or_missing(json, "namespace", in.pod_namespace, unknown);
  member_or_missing(json, "name", in.pod, unknown);
  member_or_missing(json, "container", in.container, unknown);
  member_or_missing(json, "uid", in.pod_uid, unnamed);
}

void write_pod(JsonWriter& json, const ProcessOwner& owner, Reason pods) {
  if (!owner.pod) {
    json.inapplicable("pod");
    return;
  }
  // A cgroup has the pod's UID alone; the kubelet has the names, and cannot always prove which.
  json.key("pod").begin_object();
  write_container(json, *owner.pod, pods == Reason::ok ? unnamed : pods);
  json.end_object();
}

void write_job(JsonWriter& json, const ProcessOwner& owner) {
  if (!owner.job) {
    json.inapplicable("job");
    return;
  }
  json.key("job").begin_object();
  member_or_missing(json, "id", owner.job->id, unnamed);
  json.member_or_null("array", owner.job->array);
  member_or_missing(json, "step", owner.job->step, unnamed);
  member_or_missing(json, "name", owner.job->name, unnamed);
  json.end_object();
}

void write_claim(JsonWriter& json, const DeviceHold& hold) {
  if (hold.claim.empty()) {
    json.inapplicable("claim");
    return;
  }
  json.key("claim").begin_object().member("name", hold.claim);
  member_or_missing(json, "namespace", hold.claim_namespace, unnamed);
  member_or_missing(json, "driver", hold.driver, unnamed);
  member_or_missing(json, "pool", hold.pool, unnamed);
  member_or_missing(json, "device", hold.device, unnamed);
  json.end_object();
}

void write_hold(JsonWriter& json, const DeviceHold& hold) {
  json.begin_object().key("pod").begin_object();
  write_container(json, hold.holder, Reason::invalid);
  json.end_object();
  json.member_or_null("resource", hold.resource).member_or_null("replica", hold.replica);
  write_claim(json, hold);
  json.end_object();
}

void write_source(JsonWriter& json, const std::string& key, const AttributionSource& source,
                  MonotonicTime now) {
  json.key(key).begin_object().member("state", to_string(source.reason));
  json.member_or_null("detail", source.detail);
  if (source.at == MonotonicTime{}) {
    write_missing(json, "last_answer_age_seconds", Reason::pending);
  } else {
    json.member("last_answer_age_seconds", static_cast<double>((now - source.at).count()) / 1e9);
  }
  json.end_object();
}

}  // namespace

void write_owner(JsonWriter& json, const store::Snapshot& snapshot, std::uint32_t pid) {
  const ProcessOwner* owner = store::owner_of(snapshot, pid);
  if (owner == nullptr) {
    const Reason why = store::why_no_owner(snapshot, pid);
    for (const char* key : {"uid", "user", "container_id", "runtime", "pod", "job"}) {
      write_missing(json, key, why);
    }
    return;
  }
  if (owner->uid) {
    json.member("uid", *owner->uid);
  } else {
    write_missing(json, "uid", unnamed);
  }
  member_or_missing(json, "user", owner->user, unnamed);
  json.member_or_null("container_id", owner->container_id);
  if (owner->container_id.empty()) {
    json.inapplicable("runtime");
  } else {
    member_or_missing(json, "runtime", owner->runtime, unnamed);
  }
  write_pod(json, *owner, store::why_no_holds(snapshot));
  write_job(json, *owner);
}

void write_holders(JsonWriter& json, const store::Snapshot& snapshot, const std::string& uuid) {
  const Reason why = store::why_no_holds(snapshot);
  if (why != Reason::ok) return write_missing(json, "holders", why);
  json.key("holders").begin_array();
  for (const DeviceHold& hold : store::holds_of(snapshot, uuid)) write_hold(json, hold);
  json.end_array();
}

void write_attribution(JsonWriter& json, const store::Snapshot& snapshot) {
  if (snapshot.attribution == nullptr) {
    return write_missing(json, "attribution", Reason::no_source);
  }
  const Attribution& told = *snapshot.attribution;
  json.key("attribution").begin_object();
  write_source(json, "processes", told.processes, snapshot.taken_at);
  write_source(json, "pods", told.pods, snapshot.taken_at);
  json.key("unmapped").begin_array();
  for (const DeviceHold& hold : told.unmapped) write_hold(json, hold);
  json.end_array().end_object();
}

}  // namespace stoker::api
