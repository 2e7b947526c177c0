// Composition: one node's agent. Everything that runs is put together here, in the order of the way
// of the data, and taken apart in the opposite order.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/service.h"
#include "base/result.h"
#include "config/settings.h"
#include "counters_watch.h"
#include "data_folder.h"
#include "device/api.h"
#include "device/tee.h"
#include "history/history.h"
#include "history/keeper.h"
#include "net/http_server.h"
#include "os/env.h"
#include "sample/derive.h"
#include "sample/devices_watch.h"
#include "sample/node_sampler.h"
#include "store/store.h"

namespace stoker::app {

// What stands before the store; tests put their own source here.
struct SourceParts {
  std::unique_ptr<device::Source> source;
  std::unique_ptr<os::Env> env;
  std::string simulated_profile;  // empty on real cards
};
using MakeSource =
    std::function<Result<SourceParts>(const config::Settings&, const std::string& data)>;

// A probe on this machine's cards, or on a simulated node that is made under `data`.
Result<SourceParts> make_source(const config::Settings& settings, const std::string& data);

class Agent {
 public:
  // Takes the address and the data folder and starts to sample; serves only after serve(). What fails
  // leaves nothing running. Signals that the caller waits for have to be blocked before: the threads of
  // every part inherit that.
  static Result<std::unique_ptr<Agent>> start(const config::Settings& settings,
                                              const MakeSource& make = make_source);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Where the source stands now.
  [[nodiscard]] device::SourceStatus status() const { return store_.snapshot().source; }
  // Has every GPU that is there been read once?
  [[nodiscard]] bool has_readings() const;
  void serve();
  // "127.0.0.1:9400" as bound.
  [[nodiscard]] std::string address() const { return server_->address(); }
  // Takes over the options that need no restart.
  void reload(const config::Settings& settings);

 private:
  Agent(const config::Settings& settings, DataFolder data, SourceParts parts,
        std::unique_ptr<net::HttpServer> server);

  // Constant after construction.
  DataFolder data_;
  std::unique_ptr<os::Env> env_;

  // Each is safe by itself.
  store::Store store_;
  history::History history_;
  history::Keeper keeper_;                   // saves history_
  device::Tee told_;                         // tells store_ and history_
  sample::Derive derive_;                    // tells told_
  std::unique_ptr<device::Source> source_;   // tells derive_
  sample::NodeSampler node_sampler_;         // tells store_ and history_
  sample::DevicesWatch devices_watch_;       // tells store_
  api::Service service_;                     // asks store_ and history_
  CountersWatch counters_watch_;             // tells service_
  std::unique_ptr<net::HttpServer> server_;  // asks service_
};

}  // namespace stoker::app
