#include "diag/cuda_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>

#include "diag/cublas.h"
#include "diag/nccl.h"

namespace stoker::diag {
namespace {

std::string text_of(const CudaUuid& uuid) {
  std::string out = "GPU";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += fmt::format("{:02x}", uuid[i]);
  }
  return out;
}

class CudaCard final : public Card {
 public:
  CudaCard(std::shared_ptr<const CudaDriver> driver, CudaDevice device, CardFacts facts)
      : driver_(std::move(driver)), device_(device), facts_(std::move(facts)) {}

  ~CudaCard() override {
    if (context_ == nullptr) return;
    const auto& cuda = driver_->calls();
    cuda.cuCtxSetCurrent(context_);
    library_.reset();
    for (auto& stream : streams_) {
      if (stream != nullptr) cuda.cuStreamDestroy_v2(stream);
    }
    for (auto& event : events_) {
      if (event != nullptr) cuda.cuEventDestroy_v2(event);
    }
    for (const auto& [kind, module] : modules_) cuda.cuModuleUnload(module);
    cuda.cuCtxSetCurrent(nullptr);
    cuda.cuDevicePrimaryCtxRelease_v2(device_);
  }
  CudaCard(const CudaCard&) = delete;
  CudaCard& operator=(const CudaCard&) = delete;

  Result<void> open() {
    const auto& cuda = driver_->calls();
    if (auto ok = did(cuda.cuDevicePrimaryCtxRetain(&context_, device_), "open the card"); !ok) {
      context_ = nullptr;
      return ok;
    }
    if (auto ok = enter(); !ok) return ok;
    for (auto& stream : streams_) {
      if (auto ok = did(cuda.cuStreamCreate(&stream, cuda::stream_non_blocking), "make a stream");
          !ok)
        return ok;
    }
    for (auto& event : events_) {
      if (auto ok = did(cuda.cuEventCreate(&event, 0), "make an event"); !ok) return ok;
    }
    return {};
  }

  [[nodiscard]] const CardFacts& facts() const override { return facts_; }

  Result<FreeMemory> memory() override {
    if (auto ok = enter(); !ok) return fail(ok.error());
    std::size_t free = 0;
    std::size_t total = 0;
    if (auto ok = did(driver_->calls().cuMemGetInfo_v2(&free, &total), "ask for free memory");
        !ok) {
      return fail(ok.error());
    }
    return FreeMemory{free, total};
  }

  Result<Address> allocate(std::uint64_t bytes) override {
    if (auto ok = enter(); !ok) return fail(ok.error());
    CudaAddress address = 0;
    if (auto ok = did(driver_->calls().cuMemAlloc_v2(&address, bytes), "allocate memory"); !ok)
      return fail(ok.error());
    return address;
  }
  void release(Address address) override {
    if (enter()) driver_->calls().cuMemFree_v2(address);
  }
  Result<void*> allocate_host(std::uint64_t bytes) override {
    if (auto ok = enter(); !ok) return fail(ok.error());
    void* memory = nullptr;
    if (auto ok = did(driver_->calls().cuMemHostAlloc(&memory, bytes, cuda::host_portable),
                      "allocate pinned memory");
        !ok) {
      if (ok.error().code() != ErrorCode::unavailable) return fail(ok.error());
      return fail(Error(ErrorCode::no_permission, "the host gave no pinned memory (a limit?)")
                      .caused_by(ok.error()));
    }
    return memory;
  }
  void release_host(void* memory) override {
    if (enter()) driver_->calls().cuMemFreeHost(memory);
  }

  Result<void> to_card(Address to, const void* from, std::uint64_t bytes, Queue queue) override {
    if (auto ok = enter(); !ok) return ok;
    return did(driver_->calls().cuMemcpyHtoDAsync_v2(to, from, bytes, stream(queue)),
               "copy to the card");
  }
  Result<void> from_card(void* to, Address from, std::uint64_t bytes, Queue queue) override {
    if (auto ok = enter(); !ok) return ok;
    return did(driver_->calls().cuMemcpyDtoHAsync_v2(to, from, bytes, stream(queue)),
               "copy from the card");
  }
  Result<void> from_peer(Address to, Card& peer, Address from, std::uint64_t bytes,
                         Queue queue) override {
    if (auto ok = enter(); !ok) return ok;
    return did(
        driver_->calls().cuMemcpyPeerAsync(
            to, context_, from, dynamic_cast<CudaCard&>(peer).context_, bytes, stream(queue)),
        "copy from another card");
  }
  Result<void> open_peer(Card& peer) override;
  Result<TensorMap> tensor_map(Address matrix, const MatrixShape& shape) override;
  Result<void> library_product(const MatrixArgs& args) override {
    if (auto ok = enter(); !ok) return ok;
    if (!library_) library_.emplace(Cublas::open(streams_[0]));
    if (!*library_) return fail(library_->error());
    return (*library_)->multiply(args);
  }
  Result<std::unique_ptr<Collectives>> collectives(const Cards& cards) override;
  Result<void> zero(Address address, std::uint64_t bytes) override {
    if (auto ok = enter(); !ok) return ok;
    return did(driver_->calls().cuMemsetD32Async(address, 0, bytes / 4, stream(Queue::first)),
               "clear memory");
  }

  Result<void> wait() override {
    if (auto ok = enter(); !ok) return ok;
    for (auto& each : streams_) {
      if (auto ok = did(driver_->calls().cuStreamSynchronize(each), "wait for the card"); !ok)
        return ok;
    }
    return {};
  }
  Result<double> timed(const std::function<Result<void>()>& work) override;

 protected:
  Result<void> launch_raw(const Launch& how, const void* args, std::size_t size) override;

 private:
  [[nodiscard]] Result<void> enter() const {
    return did(driver_->calls().cuCtxSetCurrent(context_), "use the card");
  }
  [[nodiscard]] Result<void> did(CudaResult result, const char* what) const {
    return driver_->checked(result, what);
  }
  [[nodiscard]] CudaStream stream(Queue queue) const {
    return streams_.at(static_cast<std::size_t>(queue));
  }
  template <typename Function>
  bool find_call(const char* symbol, Function& function) const {
    void* const address = driver_->find(symbol);
    std::memcpy(&function, &address, sizeof address);
    return address != nullptr;
  }
  Result<void> launch_clusters(CudaFunction function, const Launch& how, void** args);
  Result<CudaFunction> function(Kernel kernel, std::uint32_t shared_bytes);
  Result<CudaModule> module(Module which);

  const std::shared_ptr<const CudaDriver> driver_;
  const CudaDevice device_;
  const CardFacts facts_;
  CudaContext context_ = nullptr;
  std::array<CudaStream, 2> streams_{};
  std::array<CudaEvent, 3> events_{};  // begin, end, end of the second stream
  std::map<Module, CudaModule> modules_;
  std::map<Kernel, CudaFunction> functions_;
  std::optional<Result<Cublas>> library_;  // empty: not looked for yet
};

Result<void> CudaCard::open_peer(Card& peer) {
  if (auto ok = enter(); !ok) return ok;
  const auto& other = dynamic_cast<CudaCard&>(peer);
  int can = 0;
  if (auto ok = did(driver_->calls().cuDeviceCanAccessPeer(&can, device_, other.device_),
                    "ask for peer access");
      !ok) {
    return ok;
  }
  if (can == 0)
    return fail(ErrorCode::not_supported, "the two cards can't reach each other's memory");
  const auto result = driver_->calls().cuCtxEnablePeerAccess(other.context_, 0);
  if (result == cuda::peer_access_already_enabled) return {};
  return did(result, "open another card's memory");
}

Result<std::unique_ptr<Collectives>> CudaCard::collectives(const Cards& cards) {
  std::vector<NcclRank> ranks;
  ranks.reserve(cards.size());
  for (const auto& each : cards) {
    auto& card = dynamic_cast<CudaCard&>(*each);
    ranks.push_back({.device = card.device_, .stream = card.stream(Queue::first), .enter = [&card] {
                       return card.enter();
                     }});
  }
  return open_nccl(std::move(ranks));
}

// Work in either stream begins after the first event, and the last one waits for both.
Result<double> CudaCard::timed(const std::function<Result<void>()>& work) {
  if (auto ok = wait(); !ok) return fail(ok.error());
  const auto& cuda = driver_->calls();
  const auto [begin, end, second_end] = events_;
  if (auto ok = did(cuda.cuEventRecord(begin, streams_[0]), "record an event"); !ok)
    return fail(ok.error());
  if (auto ok = did(cuda.cuStreamWaitEvent(streams_[1], begin, 0), "order streams"); !ok)
    return fail(ok.error());
  if (auto ok = work(); !ok) return fail(ok.error());
  if (auto ok = enter(); !ok) return fail(ok.error());
  if (auto ok = did(cuda.cuEventRecord(second_end, streams_[1]), "record an event"); !ok)
    return fail(ok.error());
  if (auto ok = did(cuda.cuStreamWaitEvent(streams_[0], second_end, 0), "order streams"); !ok)
    return fail(ok.error());
  if (auto ok = did(cuda.cuEventRecord(end, streams_[0]), "record an event"); !ok)
    return fail(ok.error());
  if (auto ok = wait(); !ok) return fail(ok.error());
  float milliseconds = 0;
  if (auto ok = did(cuda.cuEventElapsedTime(&milliseconds, begin, end), "read a time"); !ok)
    return fail(ok.error());
  return static_cast<double>(milliseconds) * 1e-3;
}

Result<CudaModule> CudaCard::module(Module which) {
  if (const auto known = modules_.find(which); known != modules_.end()) return known->second;
  const ModuleRow& row = row_of(which);
  const std::string text(row.text());  // ends in a zero byte
  std::array<char, 2048> log{};
  std::array<int, 2> options = {cuda::jit_error_log, cuda::jit_error_log_bytes};
  // By value, in the place of a pointer: CUjit_option, "Option values ... passed as void*".
  std::array<void*, 2> values = {
      log.data(), reinterpret_cast<void*>(log.size())};  // NOLINT(performance-no-int-to-ptr)
  CudaModule module = nullptr;
  const auto result =
      driver_->calls().cuModuleLoadDataEx(&module, text.c_str(), 2, options.data(), values.data());
  if (result != 0) {
    return fail(
        driver_->error(result, fmt::format("load module {} ({}, PTX {}){}{}", row.name, row.target,
                                           row.version, log[0] == '\0' ? "" : ": ", log.data())));
  }
  modules_[which] = module;
  return module;
}

Result<CudaFunction> CudaCard::function(Kernel kernel, std::uint32_t shared_bytes) {
  if (const auto known = functions_.find(kernel); known != functions_.end()) return known->second;
  const KernelRow& row = row_of(kernel);
  const auto in = module(row.module);
  if (!in) return fail(in.error());
  CudaFunction found = nullptr;
  if (auto ok = did(driver_->calls().cuModuleGetFunction(&found, *in, row.symbol), row.symbol);
      !ok) {
    return fail(ok.error());
  }
  constexpr std::uint32_t without_asking =
      48 << 10;  // CUDA C++ Programming Guide, "Shared Memory", compute 7.x
  if (shared_bytes > without_asking) {
    const auto result = driver_->calls().cuFuncSetAttribute(found, cuda::function_shared_bytes,
                                                            static_cast<int>(shared_bytes));
    if (auto ok = did(result, "ask for shared memory"); !ok) return fail(ok.error());
  }
  functions_[kernel] = found;
  return found;
}

Result<void> CudaCard::launch_raw(const Launch& how, const void* args, std::size_t size) {
  if (auto ok = enter(); !ok) return ok;
  if (size != row_of(how.kernel).args_size) {
    return fail(ErrorCode::internal,
                std::string(row_of(how.kernel).symbol) + ": arguments of another kernel");
  }
  const auto found = function(how.kernel, how.shared_bytes);
  if (!found) return fail(found.error());
  std::array<void*, 1> list = {
      const_cast<void*>(args)};  // NOLINT(cppcoreguidelines-pro-type-const-cast): read only
  if (how.cluster > 1) return launch_clusters(*found, how, list.data());
  return did(
      driver_->calls().cuLaunchKernel(*found, how.blocks, 1, 1, how.threads, 1, 1, how.shared_bytes,
                                      stream(how.queue), list.data(), nullptr),
      row_of(how.kernel).symbol);
}

Result<void> CudaCard::launch_clusters(CudaFunction function, const Launch& how, void** args) {
  CudaResult (*start)(const CudaLaunchConfig*, CudaFunction, void**, void**) = nullptr;
  if (!find_call("cuLaunchKernelEx", start)) {
    return fail(ErrorCode::not_supported,
                "this driver starts no clusters of blocks (before CUDA 11.8)");
  }
  CudaLaunchAttribute cluster{.id = cuda::launch_cluster};
  cluster.value[0] = how.cluster;
  cluster.value[1] = cluster.value[2] = 1;
  const CudaLaunchConfig config{.grid = {how.blocks, 1, 1},
                                .block = {how.threads, 1, 1},
                                .shared_bytes = how.shared_bytes,
                                .stream = stream(how.queue),
                                .attributes = &cluster,
                                .attribute_count = 1};
  return did(start(&config, function, args, nullptr), row_of(how.kernel).symbol);
}

Result<TensorMap> CudaCard::tensor_map(Address matrix, const MatrixShape& shape) {
  CudaResult (*encode)(TensorMap*, int, unsigned, CudaAddress, const std::uint64_t*,
                       const std::uint64_t*, const std::uint32_t*, const std::uint32_t*, int, int,
                       int, int) = nullptr;
  if (facts_.compute_capability < 90 || !find_call("cuTensorMapEncodeTiled", encode)) {
    return fail(ErrorCode::not_supported,
                "tensor maps are there on Hopper and later, by drivers since CUDA 12.0");
  }
  TensorMap map;
  const std::array<std::uint64_t, 2> size = {shape.columns, shape.rows};
  const std::array<std::uint64_t, 1> stride = {shape.columns * 2};
  const std::array<std::uint32_t, 2> box = {shape.box_columns, shape.box_rows};
  const std::array<std::uint32_t, 2> step = {1, 1};
  const auto result =
      encode(&map, cuda::tensor_bfloat16, 2, matrix, size.data(), stride.data(), box.data(),
             step.data(), 0, cuda::tensor_swizzle_128, cuda::tensor_l2_256, 0);
  if (auto ok = did(result, "describe a matrix to the copy engine"); !ok) return fail(ok.error());
  return map;
}

Result<CardFacts> facts_of(const CudaDriver& driver, CudaDevice device, std::uint32_t index) {
  const auto& cuda = driver.calls();
  CardFacts facts{.index = index};
  std::array<char, 128> text{};
  CudaUuid uuid{};
  std::size_t bytes = 0;
  int major = 0;
  int minor = 0;
  int count = 0;
  int shared = 0;
  for (const auto result :
       {cuda.cuDeviceGetUuid(&uuid, device), cuda.cuDeviceTotalMem_v2(&bytes, device),
        cuda.cuDeviceGetAttribute(&major, cuda::capability_major, device),
        cuda.cuDeviceGetAttribute(&minor, cuda::capability_minor, device),
        cuda.cuDeviceGetAttribute(&count, cuda::multiprocessor_count, device),
        cuda.cuDeviceGetAttribute(&shared, cuda::shared_bytes_of_block, device)}) {
    if (auto ok = driver.checked(result, "ask what the card is"); !ok) return fail(ok.error());
  }
  if (cuda.cuDeviceGetName(text.data(), text.size(), device) == 0) facts.name = text.data();
  if (cuda.cuDeviceGetPCIBusId(text.data(), text.size(), device) == 0) facts.pci = text.data();
  std::ranges::transform(facts.pci, facts.pci.begin(),
                         [](char c) { return c >= 'A' && c <= 'F' ? char(c + 32) : c; });
  facts.uuid = text_of(uuid);
  facts.compute_capability = major * 10 + minor;
  facts.multiprocessors = static_cast<std::uint32_t>(count);
  facts.shared_bytes = static_cast<std::uint32_t>(shared);
  facts.memory_bytes = bytes;
  return facts;
}

// A MIG instance is the only card that a process sees which was started with its UUID in CUDA_VISIBLE_DEVICES (CUDA C++
// Programming Guide, "Environment variables"), by the UUID of the whole card.
bool is_instance(const std::vector<CardName>& wanted) {
  return wanted.size() == 1 && wanted.front().uuid.starts_with("MIG-");
}

}  // namespace

Result<CudaCards> open_cuda_cards(const std::vector<CardName>& wanted, const std::string& library) {
  if (wanted.empty()) return fail(ErrorCode::invalid_input, "no card is named");
  auto opened = CudaDriver::open(library);
  if (!opened) return fail(opened.error());
  CudaCards out{.driver = std::make_shared<const CudaDriver>(*opened)};
  int count = 0;
  if (auto ok = out.driver->checked(out.driver->calls().cuDeviceGetCount(&count), "count cards");
      !ok) {
    return fail(ok.error());
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CudaDevice device = 0;
    out.driver->calls().cuDeviceGet(&device, ordinal);
    auto facts = facts_of(*out.driver, device, static_cast<std::uint32_t>(ordinal));
    if (!facts) {
      out.unopened.push_back({"", fmt::format("card {}: {}", ordinal, facts.error().describe())});
      continue;
    }
    const auto name = std::ranges::find(wanted, facts->uuid, &CardName::uuid);
    if (is_instance(wanted)) {
      facts->index = wanted.front().index;
      facts->uuid = wanted.front().uuid;
    } else {
      if (name == wanted.end()) continue;
      facts->index = name->index;
    }
    const std::string pci = facts->pci;
    const std::string uuid = facts->uuid;
    auto card = std::make_unique<CudaCard>(out.driver, device, std::move(*facts));
    if (auto ok = card->open(); !ok) {
      out.unopened.push_back({uuid, fmt::format("{}: {}", pci, ok.error().describe())});
      continue;
    }
    out.cards.push_back(std::move(card));
  }
  return out;
}

}  // namespace stoker::diag
