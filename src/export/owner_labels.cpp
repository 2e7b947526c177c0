#include "export/owner_labels.h"

#include <string_view>
#include <utility>

#include "export/labels.h"

namespace stoker::exporting {
namespace {

using store::CardPart;
using store::DeviceOwner;
using store::GpuSnapshot;
using store::Snapshot;

void append_known(std::string& labels, std::string_view name, std::string_view value) {
  if (!value.empty()) append_label(labels, name, value);
}

// Names: internal/pkg/transformation/const.go of dcgm-exporter d5e5f51.
void append_claim(std::string& labels, const DeviceHold& hold, const device::MigInfo* mig) {
  if (hold.claim.empty()) return;
  append_label(labels, "dra_claim_name", hold.claim);
  append_known(labels, "dra_claim_namespace", hold.claim_namespace);
  append_known(labels, "dra_device_name", hold.device);
  append_known(labels, "dra_driver_name", hold.driver);
  if (mig != nullptr) {
    append_label(labels, "dra_mig_device_uuid", mig->uuid);
    append_label(labels, "dra_mig_profile", mig->profile);
  }
  append_known(labels, "dra_pool_name", hold.pool);
}

void write_info(Exposition& out, const Snapshot& snapshot, const GpuSnapshot& gpu,
                const device::MigInfo* mig, const std::string& device) {
  CardPart part;
  if (mig != nullptr) {
    part = {.gpu_instance = mig->gpu_instance, .compute_instance = mig->compute_instance};
  }
  for (const DeviceOwner& owner : store::owners_of(snapshot, gpu, part)) {
    const OwnerLabels its = owner_labels(owner, mig, PodLabels::pod);
    std::string labels = device;
    for (const std::string& more : {its.before_err, its.after_err}) {
      if (!more.empty()) labels.append(",").append(more);
    }
    if (owner.job != nullptr) append_known(labels, "hpc_job_name", owner.job->name);
    if (owner.hold != nullptr) {
      append_known(labels, "pod_uid", owner.hold->holder.pod_uid);
      append_known(labels, "resource", owner.hold->resource);
    }
    out.sample(labels, std::int64_t{1});
  }
}

void write_source(Exposition& out, std::string_view name, const AttributionSource& source) {
  out.sample(with(with({}, "source", name), "state", to_string(source.reason)), std::int64_t{1});
}

}  // namespace

OwnerLabels owner_labels(const DeviceOwner& owner, const device::MigInfo* mig, PodLabels spelling) {
  const bool old = spelling == PodLabels::pod_name;
  OwnerLabels labels;
  if (owner.hold != nullptr) {
    append_label(labels.before_err, old ? "container_name" : "container",
                 owner.hold->holder.container);
    append_claim(labels.before_err, *owner.hold, mig);
  }
  if (owner.job != nullptr) append_label(labels.after_err, "hpc_job", owner.job->id);
  if (owner.hold == nullptr) return labels;
  const PodContainer& in = owner.hold->holder;
  if (old) {
    append_label(labels.after_err, "pod_name", in.pod);
    append_label(labels.after_err, "pod_namespace", in.pod_namespace);
  } else {
    append_label(labels.after_err, "namespace", in.pod_namespace);
    append_label(labels.after_err, "pod", in.pod);
  }
  append_known(labels.after_err, "vgpu", owner.replicas);
  return labels;
}

std::vector<OwnerLabels> line_owners(const Snapshot& snapshot, const GpuSnapshot& gpu,
                                     const device::MigInfo* mig, OwnerSeries how,
                                     PodLabels spelling) {
  if (how == OwnerSeries::info || how == OwnerSeries::off) return {{}};
  CardPart part;
  if (mig != nullptr) part.gpu_instance = mig->gpu_instance;
  const auto owners = store::owners_of(snapshot, gpu, part);
  // One of several would be named at random, and a line for each would count the device twice.
  if (how == OwnerSeries::inline_labels && owners.size() > 1) return {{}};
  std::vector<OwnerLabels> all;
  all.reserve(owners.size());
  for (const DeviceOwner& owner : owners) all.push_back(owner_labels(owner, mig, spelling));
  if (all.empty()) all.emplace_back();
  return all;
}

void write_owners(Exposition& out, const Snapshot& snapshot,
                  const std::vector<std::string>& labels) {
  if (snapshot.attribution == nullptr) return;
  out.family("stoker_attribution_state", MetricType::gauge,
             "1 for how finding the owners of processes and devices stands");
  write_source(out, "processes", snapshot.attribution->processes);
  write_source(out, "pods", snapshot.attribution->pods);
  out.family("stoker_gpu_owner_info", MetricType::info,
             "Which containers hold a device, and which Slurm jobs have a process on it");
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const GpuSnapshot& gpu = snapshot.gpus[n];
    write_info(out, snapshot, gpu, nullptr, labels[n]);
    for (const device::MigInfo& mig : gpu.info.migs) {
      write_info(out, snapshot, gpu, &mig, mig_labels(labels[n], mig));
    }
  }
}

}  // namespace stoker::exporting
