// Composition: what each stage is told, by the options.
#pragma once

#include <string>

#include "agent.h"
#include "base/log.h"
#include "config/settings.h"
#include "device/probe/supervisor.h"
#include "export/render.h"
#include "health/checks.h"
#include "health/expected.h"
#include "history/history.h"
#include "sample/devices_watch.h"
#include "sample/node_sampler.h"
#include "store/store.h"

namespace stoker::app {

device::probe::SampleRates rates_of(const config::Settings& settings);
device::probe::Timing timing_of(const config::Settings& settings);
// How often RDMA ports are looked at, at the scale in force.
Nanoseconds rdma_period(const config::Settings& settings);
sample::NodeSamplerOptions node_options(const config::Settings& settings, const std::string& data);
// As the recording node's agent had them.
store::StoreOptions store_options_of(const device::record::Begin& begin);
// Nothing is older than it should be as long as its period, at the scale in force, says.
store::StoreOptions store_options(const config::Settings& settings, const SourceParts& parts);
// A history's slots are as long as its field's period, at the scale in force.
history::HistoryOptions history_options(const config::Settings& settings, const SourceParts& parts);
exporting::SeriesOptions series_of(const config::Settings& settings);
health::Expected expected_of(const config::Settings& settings);
// Those that are built in, changed by the folder of the options; what can't be taken over becomes a finding.
health::CheckSet checks_of(const config::Settings& settings);
log::Level log_level_of(const config::Settings& settings);

}  // namespace stoker::app
