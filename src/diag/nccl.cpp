#include "diag/nccl.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace stoker::diag {
namespace {

using NcclResult = int;
using NcclComm = struct NcclCommState*;

constexpr int nccl_uint32 = 3;  // ncclDataType_t
constexpr int nccl_sum = 0;     // ncclRedOp_t

struct NcclFunctions {
  NcclResult (*get_version)(int* version) = nullptr;
  NcclResult (*init_all)(NcclComm* comms, int count, const int* devices) = nullptr;
  NcclResult (*group_start)() = nullptr;
  NcclResult (*group_end)() = nullptr;
  NcclResult (*all_reduce)(const void* from, void* to, std::size_t count, int type, int operation,
                           NcclComm comm, CudaStream stream) = nullptr;
  NcclResult (*destroy)(NcclComm comm) = nullptr;
  const char* (*error_text)(NcclResult result) = nullptr;
};

template <typename Function>
bool resolve_nccl(void* library, const char* symbol, Function& function) {
  void* const address = ::dlsym(library, symbol);
  std::memcpy(&function, &address, sizeof address);
  return address != nullptr;
}

// The library is never closed: threads of its own may outlive a communicator.
Result<NcclFunctions> load_nccl(const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return fail(
        ErrorCode::not_supported,
        fmt::format("no {} on the loader's path, so there is nothing to compare with", path));
  }
  NcclFunctions out;
  if (!resolve_nccl(library, "ncclGetVersion", out.get_version) ||
      !resolve_nccl(library, "ncclCommInitAll", out.init_all) ||
      !resolve_nccl(library, "ncclGroupStart", out.group_start) ||
      !resolve_nccl(library, "ncclGroupEnd", out.group_end) ||
      !resolve_nccl(library, "ncclAllReduce", out.all_reduce) ||
      !resolve_nccl(library, "ncclCommDestroy", out.destroy) ||
      !resolve_nccl(library, "ncclGetErrorString", out.error_text)) {
    return fail(ErrorCode::not_supported,
                "this NCCL lacks a function that has been there since 2.0");
  }
  return out;
}

void* as_nccl_pointer(std::uint64_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the card's address, not ours
  return reinterpret_cast<void*>(address);
}

class Nccl final : public Collectives {
 public:
  Nccl(const NcclFunctions& functions, std::vector<NcclRank> ranks)
      : functions_(functions), ranks_(std::move(ranks)) {}
  ~Nccl() override {
    for (std::size_t i = 0; i < comms_.size(); ++i) {
      if (comms_[i] != nullptr && ranks_[i].enter()) functions_.destroy(comms_[i]);
    }
  }
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  Result<void> start() {
    functions_.get_version(&version_);
    std::vector<int> devices;
    devices.reserve(ranks_.size());
    for (const auto& rank : ranks_) devices.push_back(rank.device);
    std::vector<NcclComm> comms(ranks_.size(), nullptr);
    const auto result =
        functions_.init_all(comms.data(), static_cast<int>(devices.size()), devices.data());
    if (result != 0) return fail(ErrorCode::not_supported, text_of("it does not start", result));
    comms_ = std::move(comms);
    return {};
  }

  [[nodiscard]] std::string version() const override { return nccl_version_text(version_); }

  Result<void> all_reduce(const std::vector<std::uint64_t>& from,
                          const std::vector<std::uint64_t>& to, std::uint64_t words) override {
    if (const auto result = functions_.group_start(); result != 0)
      return failed("ncclGroupStart", result);
    auto queued = queue_all(from, to, words);
    // Also where one was refused: a group that was begun is ended.
    const auto result = functions_.group_end();
    if (!queued) return queued;
    if (result != 0) return failed("ncclGroupEnd", result);
    return {};
  }

 private:
  Result<void> queue_all(const std::vector<std::uint64_t>& from,
                         const std::vector<std::uint64_t>& to, std::uint64_t words) {
    for (std::size_t i = 0; i < comms_.size(); ++i) {
      if (auto ok = ranks_[i].enter(); !ok) return ok;
      const auto result =
          functions_.all_reduce(as_nccl_pointer(from.at(i)), as_nccl_pointer(to.at(i)), words,
                                nccl_uint32, nccl_sum, comms_[i], ranks_[i].stream);
      if (result != 0) return failed("ncclAllReduce", result);
    }
    return {};
  }

  [[nodiscard]] Result<void> failed(const char* what, NcclResult result) const {
    return fail(ErrorCode::not_found, text_of(what, result));
  }
  [[nodiscard]] std::string text_of(const char* what, NcclResult result) const {
    const char* const text = functions_.error_text(result);
    return fmt::format("{}: {}: {} ({})", version(), what, text == nullptr ? "error" : text,
                       result);
  }

  const NcclFunctions functions_;
  const std::vector<NcclRank> ranks_;
  std::vector<NcclComm> comms_;  // as ranks_; empty until it has started
  int version_ = 0;
};

}  // namespace

std::string nccl_version_text(int version) {
  const int scale = version >= 10000 ? 10000 : 1000;
  return fmt::format("NCCL {}.{}.{}", version / scale, version % scale / 100, version % 100);
}

Result<std::unique_ptr<Collectives>> open_nccl(std::vector<NcclRank> ranks,
                                               const std::string& path) {
  const auto functions = load_nccl(path.empty() ? "libnccl.so.2" : path);
  if (!functions) return fail(functions.error());
  auto nccl = std::make_unique<Nccl>(*functions, std::move(ranks));
  if (auto ok = nccl->start(); !ok) return fail(ok.error());
  return nccl;
}

}  // namespace stoker::diag
