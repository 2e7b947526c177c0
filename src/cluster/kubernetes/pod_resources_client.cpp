#include "cluster/kubernetes/pod_resources_client.h"

#include <absl/synchronization/mutex.h>
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <mutex>
#include <utility>

#include "cluster/socket_file.h"
#include "pod_resources.grpc.pb.h"

namespace stoker::cluster::kubernetes {
namespace {

constexpr std::size_t longest_text = 256;  // names of Kubernetes have 253 characters at most

std::string cut(const std::string& text) { return text.substr(0, longest_text); }

ClaimedDevice claimed_of(const v1::DynamicResource& from, const v1::ClaimResource& device) {
  ClaimedDevice claimed{.claim = cut(from.claim_name()),
                        .claim_namespace = cut(from.claim_namespace()),
                        .driver = cut(device.driver_name()),
                        .pool = cut(device.pool_name()),
                        .device = cut(device.device_name())};
  for (const auto& cdi : device.cdi_devices()) claimed.cdi_devices.push_back(cut(cdi.name()));
  return claimed;
}

ContainerResources container_of(const v1::PodResources& pod, const v1::ContainerResources& from) {
  ContainerResources container{.pod = cut(pod.name()),
                               .pod_namespace = cut(pod.namespace_()),
                               .container = cut(from.name())};
  for (const auto& devices : from.devices()) {
    PluginDevices& plugin = container.devices.emplace_back();
    plugin.resource = cut(devices.resource_name());
    for (const auto& id : devices.device_ids()) plugin.ids.push_back(cut(id));
  }
  for (const auto& dynamic : from.dynamic_resources()) {
    for (const auto& device : dynamic.claim_resources()) {
      container.claimed.push_back(claimed_of(dynamic, device));
    }
  }
  return container;
}

PodResources resources_of(const v1::ListPodResourcesResponse& answer) {
  PodResources resources;
  for (const auto& pod : answer.pod_resources()) {
    for (const auto& container : pod.containers()) {
      auto one = container_of(pod, container);
      if (!one.devices.empty() || !one.claimed.empty()) resources.push_back(std::move(one));
    }
  }
  return resources;
}

Error error_of(const grpc::Status& status, const std::string& socket) {
  const auto say = [&](ErrorCode code, std::string_view what) {
    std::string why = cut(status.error_message());
    return Error(code, fmt::format("{} ({}{}{})", what, socket, why.empty() ? "" : ": ", why));
  };
  switch (status.error_code()) {
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return say(ErrorCode::timeout, "the kubelet does not answer");
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
      return say(ErrorCode::no_permission, "the kubelet refuses to tell");
    case grpc::StatusCode::UNIMPLEMENTED:
      return say(ErrorCode::not_supported,
                 "what listens here has no pod resources API v1, which kubelets have since 1.20");
    case grpc::StatusCode::CANCELLED: return say(ErrorCode::cancelled, "asked to stop");
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return say(ErrorCode::corrupt, "the kubelet's answer is too long, or it is asked too often");
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::DATA_LOSS:
      return say(ErrorCode::corrupt, "the kubelet's answer can't be read");
    default: return say(ErrorCode::unavailable, "the kubelet can't be asked");
  }
}

void settle_grpc() {
  static std::once_flag once;
  std::call_once(once, [] {
    // What gRPC has to say of itself is no line of our log; what matters is in the status.
    gpr_set_log_function([](gpr_log_func_args* /*line*/) {});
    // Debian builds abseil with its checks for debugging: a graph with 512 bytes for every address at
    // which a mutex was ever locked, which rises for days as gRPC allocates, and an abort where two
    // mutexes are locked in both orders (absl/synchronization/mutex.h, "debug mode").
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  });
}

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments arguments;
  // Channels to one address share a connection, and how long it waits after a failure, unless told not
  // to; a new channel of ours starts afresh.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_CHANNELZ, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  // A socket's path is no authority that every server takes.
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  return arguments;
}

}  // namespace

struct PodResourcesClient::Channel {
  SocketFile file;
  std::unique_ptr<v1::PodResourcesLister::Stub> stub;
};

PodResourcesClient::PodResourcesClient(PodResourcesOptions options) : options_(std::move(options)) {
  settle_grpc();
}

PodResourcesClient::~PodResourcesClient() = default;

Result<void> PodResourcesClient::connect() {
  const auto file = find_socket(options_.socket);
  if (!file) {
    channel_.reset();
    return fail(file.error());
  }
  if (channel_ != nullptr && channel_->file == *file) return {};
  channel_.reset();
  if (auto tried = try_socket(options_.socket); !tried) return tried;
  if (last_ != *file) ++kubelets_;
  last_ = *file;
  auto channel = grpc::CreateCustomChannel("unix:" + options_.socket,
                                           grpc::InsecureChannelCredentials(), channel_arguments());
  channel_ = std::make_unique<Channel>(
      Channel{*file, v1::PodResourcesLister::NewStub(std::move(channel))});
  return {};
}

Result<PodsAnswer> PodResourcesClient::list(const std::stop_token& stop) {
  if (auto connected = connect(); !connected) return fail(connected.error());
  grpc::ClientContext context;
  context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                    gpr_time_from_nanos(options_.deadline.count(), GPR_TIMESPAN)));
  v1::ListPodResourcesResponse answer;
  grpc::Status status;
  {
    const std::stop_callback give_up(stop, [&context] { context.TryCancel(); });
    status = channel_->stub->List(&context, {}, &answer);
  }
  if (status.ok()) return PodsAnswer{.containers = resources_of(answer), .kubelet = kubelets_};
  channel_.reset();
  return fail(error_of(status, options_.socket));
}

}  // namespace stoker::cluster::kubernetes
