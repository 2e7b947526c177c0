// A recording of the built program, and the built program on that recording: the same metrics, series
// for series.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "device/record/file.h"
#include "support/asking.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using device::record::Encoder;
using device::record::Event;
using device::record::FileReader;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Of the process that answers, not of the node: another process has others.
constexpr std::array own_series = {"stoker_scrapes_total", "stoker_scrape_render_seconds_total"};
// Counts on from one answer to the next, so it differs by what an answer takes.
constexpr std::string_view age_series = "stoker_gpu_last_answer_age_seconds";

struct Scrape {
  MonotonicTime asked;
  MonotonicTime answered;
  std::string text;
};

Scrape scrape(const std::string& url) {
  Scrape seen;
  seen.asked = system_clock().monotonic();
  seen.text = get(url + "/metrics");
  seen.answered = system_clock().monotonic();
  return seen;
}

std::vector<Event> events_of(const std::string& path) {
  std::vector<Event> events;
  auto reader = FileReader::open(path);
  EXPECT_TRUE(reader) << reader.error().describe();
  while (reader) {
    auto event = reader->next();
    EXPECT_TRUE(event) << event.error().describe();
    if (!event || !*event) break;
    events.push_back(std::move(**event));
  }
  return events;
}

// The last answer while which nothing was told: it shows what had been told before it.
const Scrape* last_quiet(const std::vector<Scrape>& scrapes, const std::vector<Event>& events) {
  const Scrape* found = nullptr;
  for (const Scrape& each : scrapes) {
    const bool disturbed = std::ranges::any_of(events, [&each](const Event& event) {
      return event.told >= each.asked && event.told <= each.answered;
    });
    if (!disturbed) found = &each;
  }
  return found;
}

// `events` up to `end`, as a recording that ended then.
std::string recording_until(const std::vector<Event>& events, MonotonicTime end) {
  Encoder encoder;
  for (const Event& event : events) {
    const bool added = event.told >= end || encoder.add(event);
    EXPECT_TRUE(added);
  }
  EXPECT_TRUE(encoder.add({end, device::record::End{"cut for the test"}}));
  return std::string(device::record::magic) + device::record::make_frame(encoder.take_block(), end);
}

std::map<std::string, std::string> series_of(const std::string& metrics) {
  std::map<std::string, std::string> all;
  std::istringstream lines(metrics);
  for (std::string line; std::getline(lines, line);) {
    const auto blank = line.rfind(' ');
    const bool own = std::ranges::any_of(
        own_series, [&line](const char* name) { return line.rfind(name, 0) == 0; });
    if (line.empty() || line[0] == '#' || own || blank == std::string::npos) continue;
    all[line.substr(0, blank)] = line.substr(blank + 1);
  }
  return all;
}

void expect_same(const Scrape& run, const std::string& replayed) {
  const auto was = series_of(run.text);
  const auto is = series_of(replayed);
  ASSERT_GT(was.size(), 400U) << run.text;
  const double took = static_cast<double>((run.answered - run.asked).count()) / 1e9;
  for (const auto& [series, value] : was) {
    ASSERT_TRUE(is.contains(series)) << series;
    if (series.rfind(age_series, 0) != 0) {
      EXPECT_EQ(is.at(series), value) << series;
      continue;
    }
    const double later = std::stod(value) - std::stod(is.at(series));
    EXPECT_GE(later, -1e-6) << series;  // a series is told to the nanosecond, a double to less
    EXPECT_LE(later, took + 1e-6) << series;
  }
  EXPECT_EQ(is.size(), was.size());
}

class ReplayEndToEnd : public ::testing::Test {
 protected:
  std::vector<std::string> up_recording() const {
    return {"up",       "--sim",       "hgx-h100", "--data", folder_.path("data"),
            "--listen", "127.0.0.1:0", "--record", file()};
  }
  std::string file() const { return folder_.path("node.rec"); }

  // The metrics at the end of a replay of `path`, and the status then.
  std::pair<std::string, std::string> replay(const std::string& path) {
    StokerProcess agent({"up", "--replay", path, "--speed", "20", "--listen", "127.0.0.1:0"});
    const auto url = agent.wait_ready();
    EXPECT_NE(url, "") << agent.err();
    EXPECT_THAT(agent.err(), HasSubstr("This is a REPLAY of " + path));
    const std::string status = wait_for_the_end(url, [] {});
    return {get(url + "/metrics"), status};
  }

  // The status when the replay stood at its end; `meanwhile` is called again and again until then.
  static std::string wait_for_the_end(const std::string& url,
                                      const std::function<void()>& meanwhile) {
    std::string status = get(url + "/api/v1/status");
    const auto deadline = system_clock().monotonic() + Seconds(60);
    while (status.find("\"ended\":true") == std::string::npos &&
           system_clock().monotonic() < deadline) {
      std::this_thread::sleep_for(Milliseconds(20));
      meanwhile();
      status = get(url + "/api/v1/status");
    }
    return status;
  }

  TempFolder folder_;
};

TEST_F(ReplayEndToEnd, AReplayShowsTheSameMetricsAsTheRunDid) {
  std::vector<Scrape> scrapes;
  {
    // A recording has no owners and no RDMA ports: docs/specs/recording.md, docs/specs/fabric.md.
    auto arguments = up_recording();
    arguments.insert(arguments.end(), {"--config", folder_.write("stoker.yaml",
                                                                 "attribution: {enabled: false}\n"
                                                                 "rdma: {enabled: false}\n")});
    StokerProcess agent(arguments);
    const auto url = agent.wait_ready();
    ASSERT_NE(url, "") << agent.err();
    const auto until = system_clock().monotonic() + Seconds(6);
    while (system_clock().monotonic() < until) {
      std::this_thread::sleep_for(Milliseconds(50));
      scrapes.push_back(scrape(url));
    }
    agent.signal(SIGTERM);
    EXPECT_EQ(agent.wait(), 0) << agent.err();
  }
  const auto events = events_of(file());
  const Scrape* quiet = last_quiet(scrapes, events);
  ASSERT_NE(quiet, nullptr);
  const auto cut = folder_.write("cut.rec", recording_until(events, quiet->asked));
  const auto [metrics, status] = replay(cut);
  expect_same(*quiet, metrics);
  EXPECT_THAT(status, HasSubstr("\"simulated_profile\":\"hgx-h100\""));
  EXPECT_THAT(status, HasSubstr("\"lost_bytes\":0,\"ended\":true,\"problem\":null"));
}

struct GreatestAndLast {
  double greatest = 0;
  double last = 0;
};

// Of the power in watts that was kept, for each GPU.
std::vector<GreatestAndLast> power_kept(const std::string& url) {
  const auto document =
      nlohmann::json::parse(get(url + "/api/v1/history?field=power&step=reading"));
  std::vector<GreatestAndLast> all;
  for (const auto& series : document.at("series")) {
    GreatestAndLast& gpu = all.emplace_back();
    for (const auto& sample : series.at("samples")) {
      if (sample.at("power_watts").is_null()) continue;
      gpu.last = sample.at("power_watts").get<double>();
      gpu.greatest = std::max(gpu.greatest, gpu.last);
    }
  }
  return all;
}

TEST_F(ReplayEndToEnd, ARecordingOfTwoRealCardsShowsTheLoadThatTheyWereUnder) {
  const std::string cards = STOKER_SOURCE_DIR "/tests/fixtures/recordings/h200x2.rec";
  StokerProcess agent({"up", "--replay", cards, "--speed", "10", "--listen", "127.0.0.1:0"});
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  std::array<std::size_t, 2> processes{};
  const std::string status = wait_for_the_end(url, [&] {
    const auto gpus = nlohmann::json::parse(get(url + "/api/v1/gpus")).at("gpus");
    for (std::size_t i = 0; i < gpus.size() && i < processes.size(); ++i) {
      if (gpus[i].at("processes").is_array())
        processes.at(i) = std::max(processes.at(i), gpus[i].at("processes").size());
    }
  });
  EXPECT_THAT(
      status,
      HasSubstr("\"verdict\":\"ok\",\"reason\":\"2 of 2 GPUs answer\",\"simulated\":false"));
  EXPECT_THAT(processes, ElementsAre(2, 8));
  const auto power = power_kept(url);
  ASSERT_EQ(power.size(), 2U);
  for (const GreatestAndLast& gpu : power) {
    EXPECT_GT(gpu.greatest, 680);  // of 700
    EXPECT_LT(gpu.last, 100);
  }
  EXPECT_THAT(
      get(url + "/metrics"),
      HasSubstr(
          "DCGM_FI_DEV_FB_RESERVED{gpu=\"1\",UUID=\"GPU-00000000-0000-0000-0000-000000000002\""));
}

TEST_F(ReplayEndToEnd, ARecordingThatWasKilledIsReplayedUpToItsLastWholeFrame) {
  {
    StokerProcess agent(up_recording());
    ASSERT_NE(agent.wait_ready(), "") << agent.err();
    // Its beginning is written at once; then what follows.
    const auto first = std::filesystem::file_size(file());
    const auto deadline = system_clock().monotonic() + Seconds(60);
    while (std::filesystem::file_size(file()) == first) {
      ASSERT_LT(system_clock().monotonic(), deadline);
      std::this_thread::sleep_for(Milliseconds(20));
    }
    agent.signal(SIGKILL);
    agent.wait();
  }
  const auto [metrics, status] = replay(file());
  EXPECT_THAT(metrics, HasSubstr("DCGM_FI_DEV_POWER_USAGE{gpu=\"7\""));
  EXPECT_THAT(status, HasSubstr("\"ended\":true"));
}

TEST_F(ReplayEndToEnd, TheVerbRecordsForAsLongAsItIsToldAndNeverOverwrites) {
  const std::vector<std::string> command = {"record", file(),   "--sim",
                                            "t4x4",   "--data", folder_.path("data"),
                                            "--for",  "3s",     "--replace-identifiers"};
  const auto recorded = run_stoker(command);
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(recorded.out, HasSubstr("ended by: the time is over"));
  const auto events = events_of(file());
  EXPECT_EQ(std::get<device::record::Begin>(events.at(0).what).hostname, "node");
  const auto again = run_stoker(command);
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("is there already; a recording never overwrites"));
}

TEST_F(ReplayEndToEnd, WhatCantBeReplayedIsSaid) {
  const auto no_recording = run_stoker({"up", "--replay", folder_.write("x", "{}")});
  EXPECT_EQ(no_recording.status, 2);
  EXPECT_THAT(no_recording.err, HasSubstr("no recording of Stoker"));
  const auto both = run_stoker({"up", "--replay", file(), "--sim", "t4x4"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("leave out --replay or --sim"));
}

}  // namespace
}  // namespace stoker::test
