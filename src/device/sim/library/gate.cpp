#include "device/sim/library/gate.h"

#include <unistd.h>

#include <cstring>

#include "device/sim/library/waits.h"

namespace stoker::sim {
namespace {

// A call on its way: the session that it began with, and the global lock where there is one.
struct Passage {
  std::shared_ptr<const Session> session;
  UniqueFd lock;
  Return code = Return::success;
};

bool has_function(const Driver& driver, const Function& function) {
  const nvml::DriverVersion version = version_of(driver);
  const FunctionRow& row = function_row_array[function.row];
  if (version.branch < row.since_driver) return false;
  // The table knows gaps that "since" does not: a symbol that one driver lacks.
  bool listed = false;
  for (const nvml::AbiRow& layout : nvml::abi_table()) listed |= layout.symbol == row.symbol;
  return !listed || nvml::row_for(row.symbol, version) != nullptr;
}

Return check_driver(const Session& session, const State& state, const Function& function) {
  if (state.driver.loaded == 0 || state.driver.load_count != session.load_count) {
    return Return::driver_not_loaded;
  }
  return has_function(state.driver, function) ? Return::success : Return::function_not_found;
}

Passage enter(const Function& function, bool arguments_good) {
  Passage passage;
  passage.session = current_session();
  if (passage.session == nullptr) {
    passage.code = Return::uninitialized;
    return passage;
  }
  passage.code = passage.session->file.read(
      [&](const State& state) { return check_driver(*passage.session, state, function); });
  if (passage.code == Return::success && !arguments_good) passage.code = Return::invalid_argument;
  return passage;
}

void sit_through(Passage& passage, const Function& function, std::int32_t gpu) {
  const Orders orders = passage.session->file.read(
      [&](const State& state) { return orders_for(state, function, gpu); });
  passage.lock = obey(orders, passage.session->file.path());
  if (orders.code != keep_code) passage.code = static_cast<Return>(orders.code);
}

Return presence_of(const Session& session, const Gpu& gpu, std::uint32_t row) {
  switch (gpu.presence) {
    case Presence::absent: return Return::invalid_argument;
    case Presence::lost:
    case Presence::vanished: return Return::gpu_is_lost;
    case Presence::present: break;
  }
  return gpu.incarnation == session.incarnation[row] ? Return::success : Return::gpu_is_lost;
}

bool exists(const Gpu& gpu, const Place& place) {
  if (!place.is_mig()) return true;
  const GpuInstance& instance = gpu.mig.instances[place.instance];
  if (gpu.mig.mode == 0 || instance.used == 0) return false;
  return place.compute == no_row || instance.compute[place.compute].used != 0;
}

Return product_answer(const Gpu& gpu, const Function& function) {
  for (const Answer& answer : gpu.answers) {
    if (answer.function == 0) break;
    if (answer.function == function.hash) return static_cast<Return>(answer.code);
  }
  return Return::success;
}

Return check_gpu(const Session& session, const Gpu& gpu, const Place& place,
                 const Function& function) {
  const Return presence = presence_of(session, gpu, place.gpu);
  if (presence != Return::success) return presence;
  if (!exists(gpu, place)) return Return::invalid_argument;
  return product_answer(gpu, function);
}

Return run(Passage& passage, const Function& function, const Place& place, Body body) {
  sit_through(passage, function, static_cast<std::int32_t>(place.gpu));
  if (passage.code != Return::success) return passage.code;
  const Session& session = *passage.session;
  return session.file.read([&](const State& state) {
    const Gpu& gpu = state.gpus[place.gpu];
    const Return checked = check_gpu(session, gpu, place, function);
    if (checked != Return::success) return checked;
    return body(View{session, state, gpu, place});
  });
}

bool may_change(const Session& session) {
  return ::geteuid() == 0 ||
         session.file.read([](const State& state) { return state.driver.allow_unprivileged != 0; });
}

Return run_change(Passage& passage, const Function& function, const Place& place, Change change) {
  sit_through(passage, function, static_cast<std::int32_t>(place.gpu));
  if (passage.code != Return::success) return passage.code;
  const Session& session = *passage.session;
  const Return checked = session.file.read([&](const State& state) {
    return check_gpu(session, state.gpus[place.gpu], place, function);
  });
  if (checked != Return::success) return checked;
  if (!may_change(session)) return Return::no_permission;
  auto file = StateFile::open(session.file.path(), StateFile::Access::write);
  if (!file) return Return::no_permission;
  Return answer = Return::unknown;
  const auto written = file->write(
      [&](State& state) { answer = change(ChangeView{state, state.gpus[place.gpu], place}); });
  return written ? answer : Return::operating_system;
}

// The handle's place if the function takes such handles, else why not.
Return accept(const std::optional<Place>& place, Takes takes) {
  if (!place) return Return::invalid_argument;
  if (takes == Takes::gpu && place->is_mig()) return Return::not_supported;
  if (takes == Takes::mig && !place->is_mig()) return Return::invalid_argument;
  return Return::success;
}

template <typename Handle>
Return pass(const Function& function, Handle handle, bool arguments_good, Takes takes, Body body) {
  Passage passage = enter(function, arguments_good);
  if (passage.code != Return::success) return passage.code;
  const auto place = place_of(handle);
  const Return accepted = accept(place, takes);
  return accepted == Return::success ? run(passage, function, *place, body) : accepted;
}

template <typename Handle>
Return pass_change(const Function& function, Handle handle, bool arguments_good, Takes takes,
                   Change change) {
  Passage passage = enter(function, arguments_good);
  if (passage.code != Return::success) return passage.code;
  const auto place = place_of(handle);
  const Return accepted = accept(place, takes);
  return accepted == Return::success ? run_change(passage, function, *place, change) : accepted;
}

}  // namespace

Return on_system(Function function, bool arguments_good, SystemBody body) {
  Passage passage = enter(function, arguments_good);
  if (passage.code != Return::success) return passage.code;
  sit_through(passage, function, every_gpu);
  if (passage.code != Return::success) return passage.code;
  const Session& session = *passage.session;
  return session.file.read([&](const State& state) { return body(SystemView{session, state}); });
}

Return on_gpu(Function function, Device device, bool arguments_good, Body body, Takes takes) {
  return pass(function, device, arguments_good, takes, body);
}

Return on_instance(Function function, GpuInstanceHandle handle, bool arguments_good, Body body) {
  return pass(function, handle, arguments_good, Takes::mig, body);
}

Return on_instance(Function function, ComputeInstanceHandle handle, bool arguments_good,
                   Body body) {
  return pass(function, handle, arguments_good, Takes::mig, body);
}

Return on_lookup(Function function, bool arguments_good, Return missing,
                 FunctionRef<Place(const SystemView&)> find, Device* device) {
  Passage passage = enter(function, arguments_good && device != nullptr);
  if (passage.code != Return::success) return passage.code;
  const Session& session = *passage.session;
  const Place place =
      session.file.read([&](const State& state) { return find(SystemView{session, state}); });
  if (place.gpu == no_row) return missing;
  return run(passage, function, place, [&](const View&) {
    *device = place.is_mig() ? mig_handle(place) : device_handle(place.gpu);
    return Return::success;
  });
}

Return change_gpu(Function function, Device device, bool arguments_good, Change change,
                  Takes takes) {
  return pass_change(function, device, arguments_good, takes, change);
}

Return change_instance(Function function, GpuInstanceHandle handle, bool arguments_good,
                       Change change) {
  return pass_change(function, handle, arguments_good, Takes::mig, change);
}

Return change_instance(Function function, ComputeInstanceHandle handle, bool arguments_good,
                       Change change) {
  return pass_change(function, handle, arguments_good, Takes::mig, change);
}

Return wait_before_session(const StateFile& file, const Function& function, std::int32_t gpu) {
  const Orders orders =
      file.read([&](const State& state) { return orders_for(state, function, gpu); });
  const UniqueFd lock = obey(orders, file.path());
  return orders.code == keep_code ? Return::success : static_cast<Return>(orders.code);
}

void pay(std::uint64_t duration_ns) {
  if (duration_ns == 0) return;
  Orders orders;
  orders.cost_ns = duration_ns;
  const UniqueFd lock = obey(orders, {});
}

Return copy_text(std::string_view text, char* out, unsigned length) {
  if (text.size() + 1 > length) return Return::insufficient_size;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return Return::success;
}

Return tell_text(Function function, Device device, char* out, unsigned length,
                 FunctionRef<std::string_view(const View&)> read) {
  return on_gpu(function, device, out != nullptr, [&](const View& view) {
    const std::string_view text = read(view);
    return text.empty() ? Return::not_supported : copy_text(text, out, length);
  });
}

}  // namespace stoker::sim
