#include "cluster/kubernetes/pod_resources_client.h"

#include <absl/synchronization/mutex.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <latch>
#include <thread>

#include "base/unique_fd.h"
#include "cluster/kubelet.h"
#include "pod_resources.grpc.pb.h"

namespace stoker::cluster::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// A kubelet's side of the API: says `answer`, or `status` where that is not ok.
class FakeKubelet final : public v1::PodResourcesLister::Service {
 public:
  v1::ListPodResourcesResponse answer;
  grpc::Status status;
  std::latch* asked = nullptr;  // counted down, and the question then never answered

  grpc::Status List(grpc::ServerContext* context, const v1::ListPodResourcesRequest* /*request*/,
                    v1::ListPodResourcesResponse* out) override {
    if (asked != nullptr) {
      asked->count_down();
      while (!context->IsCancelled()) std::this_thread::yield();
      return grpc::Status::CANCELLED;
    }
    *out = answer;
    return status;
  }

  void add(const std::string& pod, const std::string& resource,
           const std::vector<std::string>& ids) {
    auto* one = answer.add_pod_resources();
    one->set_name(pod);
    one->set_namespace_("team");
    auto* container = one->add_containers();
    container->set_name("main");
    auto* devices = container->add_devices();
    devices->set_resource_name(resource);
    for (const auto& id : ids) devices->add_device_ids(id);
  }
};

constexpr Nanoseconds patient = Seconds(100);  // however busy the machine is

class PodResourcesClientTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "stoker-pods-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    socket_ = name + "/kubelet.sock";
  }
  void TearDown() override {
    stop_kubelet();
    std::filesystem::remove_all(folder_);
  }

  void start_kubelet() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + socket_, grpc::InsecureServerCredentials());
    builder.RegisterService(&kubelet_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  // As a kubelet that is killed: its socket file stays.
  void stop_kubelet() {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }
  static ErrorCode code_of(const Result<PodsAnswer>& answer) {
    return answer ? ErrorCode::internal : answer.error().code();
  }

  std::filesystem::path folder_;
  std::string socket_;
  FakeKubelet kubelet_;
  std::unique_ptr<grpc::Server> server_;
  const std::stop_token never_;
};

TEST_F(PodResourcesClientTest, TellsEveryContainerThatHoldsADevice) {
  kubelet_.add("trainer", "nvidia.com/gpu", {"GPU-a", "GPU-b::3"});
  kubelet_.answer.add_pod_resources()->add_containers()->set_name("no device");
  start_kubelet();
  PodResourcesClient asks({.socket = socket_, .deadline = patient});
  const auto answer = asks.list(never_);
  ASSERT_TRUE(answer) << answer.error().describe();
  ASSERT_THAT(answer->containers, SizeIs(1));
  EXPECT_EQ(answer->containers.front().pod, "trainer");
  EXPECT_EQ(answer->containers.front().pod_namespace, "team");
  EXPECT_EQ(answer->containers.front().container, "main");
  EXPECT_EQ(answer->containers.front().devices.front().resource, "nvidia.com/gpu");
  EXPECT_THAT(answer->containers.front().devices.front().ids, ElementsAre("GPU-a", "GPU-b::3"));
}

// Bytes of fields 4 and 5 of a pod and field 5 of a claimed device, which newer kubelets have
// (k8s.io/kubelet, pkg/apis/podresources/v1: cpu_ids, memory, share_id), are passed over.
TEST_F(PodResourcesClientTest, ReadsResourceClaimsOfNewerKubelets) {
  const std::string device = std::string("\x0a\x15\x0a\x13") + "nvidia.com/gpu=GPU-" +
                             "\x12\x0egpu.nvidia.com" + "\x1a\x04node" + "\x22\x05gpu-3" +
                             "\x2a\x02s1";
  const auto field = [](char tag, const std::string& bytes) {
    return std::string(1, tag) + static_cast<char>(bytes.size()) + bytes;
  };
  const std::string dynamic = field(0x12, "claim") + field(0x1a, "team") + field(0x22, device);
  const std::string pod = field(0x0a, "p") + field(0x12, "team") +
                          field(0x1a, field(0x0a, "main") + field(0x2a, dynamic)) +
                          field(0x22, std::string("\x01\x02")) + field(0x2a, "");
  ASSERT_TRUE(kubelet_.answer.ParseFromString(field(0x0a, pod)));
  start_kubelet();
  PodResourcesClient asks({.socket = socket_, .deadline = patient});
  const auto answer = asks.list(never_);
  ASSERT_TRUE(answer) << answer.error().describe();
  ASSERT_THAT(answer->containers, SizeIs(1));
  const ClaimedDevice& claimed = answer->containers.front().claimed.at(0);
  EXPECT_EQ(claimed.claim, "claim");
  EXPECT_EQ(claimed.claim_namespace, "team");
  EXPECT_EQ(claimed.driver, "gpu.nvidia.com");
  EXPECT_EQ(claimed.pool, "node");
  EXPECT_EQ(claimed.device, "gpu-3");
  EXPECT_THAT(claimed.cdi_devices, ElementsAre("nvidia.com/gpu=GPU-"));
}

void lock_both(absl::Mutex& first, absl::Mutex& second) {
  const absl::MutexLock outer(&first);
  const absl::MutexLock inner(&second);
}

// Where abseil still followed who locks what, the second order of the two would abort this program;
// following it costs memory for every mutex that gRPC ever locked, for as long as the agent runs.
TEST_F(PodResourcesClientTest, KeepsNoRecordOfTheLocksThatGrpcTakes) {
  start_kubelet();
  PodResourcesClient asks({.socket = socket_, .deadline = patient});
  ASSERT_TRUE(asks.list(never_));
  absl::Mutex one;
  absl::Mutex other;
  lock_both(one, other);
  lock_both(other, one);
}

TEST_F(PodResourcesClientTest, SurvivesTenRestartsOfTheKubelet) {
  PodResourcesClient asks({.socket = socket_, .deadline = patient});
  EXPECT_EQ(code_of(asks.list(never_)), ErrorCode::unavailable) << "it has not started yet";
  std::uint64_t last = 0;
  for (int restart = 0; restart < 10; ++restart) {
    kubelet_.answer.Clear();
    kubelet_.add("pod-" + std::to_string(restart), "nvidia.com/gpu", {"GPU-a"});
    start_kubelet();
    const auto answer = asks.list(never_);
    ASSERT_TRUE(answer) << restart << ": " << answer.error().describe();
    EXPECT_EQ(answer->containers.front().pod, "pod-" + std::to_string(restart));
    EXPECT_NE(answer->kubelet, last) << "it is another one";
    last = answer->kubelet;
    EXPECT_EQ(asks.list(never_)->kubelet, last) << "and is that still";
    stop_kubelet();
    if (restart % 2 == 1) std::filesystem::remove(socket_);
    EXPECT_EQ(code_of(asks.list(never_)), ErrorCode::unavailable) << restart;
  }
}

TEST_F(PodResourcesClientTest, AKubeletThatNeverAnswersTimesOut) {
  std::latch asked(1);
  kubelet_.asked = &asked;
  start_kubelet();
  PodResourcesClient asks({.socket = socket_, .deadline = Milliseconds(50)});
  const auto answer = asks.list(never_);
  EXPECT_EQ(code_of(answer), ErrorCode::timeout);
  EXPECT_THAT(answer.error().message(), HasSubstr(socket_));
}

TEST_F(PodResourcesClientTest, AQuestionIsGivenUpToStop) {
  std::latch asked(1);
  kubelet_.asked = &asked;
  start_kubelet();
  std::stop_source stop;
  std::jthread stopper([&] {
    asked.wait();
    stop.request_stop();
  });
  PodResourcesClient asks({.socket = socket_, .deadline = Seconds(3600)});
  EXPECT_EQ(code_of(asks.list(stop.get_token())), ErrorCode::cancelled);
}

TEST_F(PodResourcesClientTest, RefusalsAreTold) {
  start_kubelet();
  PodResourcesClient asks({.socket = socket_, .deadline = patient});
  kubelet_.status = {grpc::StatusCode::PERMISSION_DENIED, "not you"};
  const auto denied = asks.list(never_);
  EXPECT_EQ(code_of(denied), ErrorCode::no_permission);
  EXPECT_THAT(denied.error().message(), HasSubstr("not you"));
  kubelet_.status = {grpc::StatusCode::UNIMPLEMENTED, "unknown service v1"};
  EXPECT_EQ(code_of(asks.list(never_)), ErrorCode::not_supported);
  kubelet_.status = grpc::Status::OK;
  EXPECT_TRUE(asks.list(never_)) << "and none of them lasts";
}

TEST_F(PodResourcesClientTest, AnAnswerOfMoreThanFourMebibytesIsRefused) {
  kubelet_.add("huge", "nvidia.com/gpu", std::vector<std::string>(5000, std::string(1000, 'x')));
  start_kubelet();
  PodResourcesClient asks({.socket = socket_, .deadline = patient});
  EXPECT_EQ(code_of(asks.list(never_)), ErrorCode::corrupt);
}

TEST_F(PodResourcesClientTest, StringsAreCut) {
  kubelet_.add(std::string(1000, 'p'), "nvidia.com/gpu", {std::string(1000, 'x')});
  start_kubelet();
  PodResourcesClient asks({.socket = socket_, .deadline = patient});
  const auto answer = asks.list(never_);
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->containers.front().pod, SizeIs(256));
  EXPECT_THAT(answer->containers.front().devices.front().ids.front(), SizeIs(256));
}

TEST_F(PodResourcesClientTest, WhereThereIsNoFolderThereIsNoKubelet) {
  PodResourcesClient asks({.socket = socket_ + "/none/kubelet.sock"});
  EXPECT_EQ(code_of(asks.list(never_)), ErrorCode::not_found);
  PodResourcesClient long_path({.socket = "/" + std::string(200, 'x') + "/kubelet.sock"});
  EXPECT_EQ(code_of(long_path.list(never_)), ErrorCode::not_found);
}

// A server of another kind behind the name.
class GarbageServer {
 public:
  explicit GarbageServer(const std::string& path)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(fd_.get(), 8), 0);
    thread_ = std::thread([this] {
      while (true) {
        const UniqueFd client(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!client.valid()) return;
        const std::string garbage(4096, '\xfe');
        (void)!::send(client.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
      }
    });
  }
  ~GarbageServer() {
    ::shutdown(fd_.get(), SHUT_RDWR);  // accept returns
    thread_.join();
  }
  GarbageServer(const GarbageServer&) = delete;
  GarbageServer& operator=(const GarbageServer&) = delete;

 private:
  UniqueFd fd_;
  std::thread thread_;
};

TEST_F(PodResourcesClientTest, GarbageIsNoAnswer) {
  PodResourcesClient asks({.socket = socket_, .deadline = patient});
  {
    const GarbageServer garbage(socket_);
    EXPECT_FALSE(asks.list(never_));
  }
  std::filesystem::remove(socket_);
  start_kubelet();
  EXPECT_TRUE(asks.list(never_)) << "and it is forgotten when the kubelet is back";
}

// As the agent does it, through the library that it loads.
TEST_F(PodResourcesClientTest, IsLoadedWhereThereIsAKubelet) {
  Kubelet none(socket_ + "/none/kubelet.sock", "/none/library.so");
  EXPECT_EQ(code_of(none.list(never_)), ErrorCode::not_found) << "before it looks for the library";
  kubelet_.add("trainer", "nvidia.com/gpu", {"GPU-a"});
  start_kubelet();
  Kubelet broken(socket_, "/none/library.so");
  const auto failed = broken.list(never_);
  EXPECT_EQ(code_of(failed), ErrorCode::unavailable);
  EXPECT_THAT(failed.error().message(), HasSubstr("/none/library.so"));
  Kubelet asks(socket_, STOKER_BINARY_DIR "/lib/libstoker_kubelet.so");
  auto answer = asks.list(never_);
  while (code_of(answer) == ErrorCode::timeout) answer = asks.list(never_);  // a busy machine
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_EQ(answer->containers.front().pod, "trainer");
}

TEST_F(PodResourcesClientTest, LeavesNoDescriptorToAProgramThatIsStarted) {
  start_kubelet();
  PodResourcesClient asks({.socket = socket_, .deadline = patient});
  ASSERT_TRUE(asks.list(never_));
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    if (fd <= STDERR_FILENO) continue;
    std::error_code code;
    const auto target = std::filesystem::read_symlink(entry.path(), code).string();
    const bool kept = (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0;
    const bool of_grpc = target.starts_with("socket:") || target.starts_with("anon_inode:");
    EXPECT_FALSE(of_grpc && kept) << fd << " is " << target;
  }
}

}  // namespace
}  // namespace stoker::cluster::kubernetes
