#include "history/history.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/documents.h"
#include "api/history_document.h"
#include "api/history_view.h"
#include "api/views.h"
#include "store/store_test_support.h"

namespace stoker::api {
namespace {

using store::gpu_reading;
using store::pci_of;

// Two GPUs of which the second hangs for the last half of two minutes.
struct Node {
  Node() {
    history.on_inventory(store::gpu_infos(2));
    for (int second = 0; second < 120; ++second) {
      if (second == 60) history.on_gpu_state(pci_of(1), device::GpuState::hung, "");
      for (unsigned gpu = 0; gpu < 2; ++gpu) {
        history.on_readings(
            pci_of(gpu),
            {gpu_reading(FieldId::power, Reading::of(100.0 + second, clock.monotonic()))});
      }
      clock.advance(Seconds(1));
    }
    snapshot.wall = clock.wall();
    for (const auto& info : store::gpu_infos(2)) snapshot.gpus.emplace_back().info = info;
  }
  std::string ask(const std::string& query) {
    const auto question = parse_history_question(query, history);
    if (!question) return question.error().message();
    const auto document = history_document(snapshot, history, *question);
    return document ? *document : document.error().message();
  }

  ManualClock clock;
  history::History history{clock,
                           {.fields = {FieldId::power, FieldId::temperature},
                            .node_fields = {FieldId::cpu_busy},
                            .period_of = [](const Field&) { return Seconds(1); }}};
  store::Snapshot snapshot;
};

TEST(HistoryDocument, IsMeasuredBesideTheFieldsThatItKeeps) {
  const Node node;
  const auto facts = node.history.facts();
  const std::string document = fields_document(nullptr, facts);
  const std::string want =
      fmt::format(R"("history":{{"series":2,"memory_bytes":{},"memory_limit_bytes":8388608,)"
                  R"("readings_window_seconds":3600,"minutes_window_seconds":86400,"given_up":0}})",
                  facts.bytes);
  EXPECT_NE(document.find(want), std::string::npos) << document.substr(0, 300);
  const auto table = view_fields(document);
  ASSERT_TRUE(table);
  EXPECT_NE(table->find("\nhistory: 2 series in "), std::string::npos);
  EXPECT_NE(table->find(" of 8 MiB: by reading 1 h 0 min, by minute 1 d 0 h\n"), std::string::npos);
  EXPECT_EQ(view_fields(fields_document(nullptr))->find("history:"), std::string::npos);
}

TEST(HistoryDocument, TellsEachGpuWithItsReasonsInTheOrderOfTheirIndex) {
  Node node;
  const std::string document = node.ask("field=power&since=10s");
  EXPECT_NE(document.find(R"("step":"reading")"), std::string::npos);
  EXPECT_LT(document.find(R"("gpu":0)"), document.find(R"("gpu":1)"));
  EXPECT_NE(document.find(R"("power_watts":219)"), std::string::npos);
  EXPECT_NE(document.find(R"("power_watts":null,"power_watts_reason":"hung")"), std::string::npos);
  const std::string minutes = node.ask("field=DCGM_FI_DEV_POWER_USAGE&gpu=0&step=minute");
  EXPECT_NE(minutes.find(R"("power_watts_min":100)"), std::string::npos);
  EXPECT_EQ(minutes.find(R"("gpu":1)"), std::string::npos);
}

TEST(HistoryDocument, NamesAGpuAsTheOtherPagesDo) {
  Node node;
  for (const std::string& name : {std::string("1"), store::gpu_info(1).uuid, pci_of(1).sysfs()}) {
    const std::string document = node.ask("field=power&gpu=" + name);
    EXPECT_NE(document.find(R"("gpu":1,)"), std::string::npos) << name;
    EXPECT_EQ(document.find(R"("gpu":0,)"), std::string::npos) << name;
  }
  EXPECT_EQ(node.ask("field=power&gpu=01"),
            "no history of power for GPU \"01\": name one by index, UUID or PCI address");
}

TEST(HistoryDocument, SaysWhatWouldBeRight) {
  Node node;
  EXPECT_EQ(node.ask("field=pwoer"), "there is no field \"pwoer\"; did you mean 'power'?");
  EXPECT_EQ(node.ask("field=compute_mode"),
            "no history is kept of compute_mode; it is of: temperature, power, cpu_busy (option "
            "history.fields)");
  EXPECT_EQ(node.ask("field=power&since=3"), "since=3: a duration up to 7d, e.g. 1h");
  EXPECT_EQ(node.ask("field=power&step=day"), "step=day: reading or minute");
  EXPECT_EQ(node.ask("field=power&gpus=1"),
            "\"gpus\" is no parameter of this page: field, gpu, since, step");
  EXPECT_EQ(node.ask(""), "which field? e.g. ?field=power&gpu=3&since=1h");
  EXPECT_EQ(node.ask("field=power&gpu=7"),
            "no history of power for GPU \"7\": name one by index, UUID or PCI address");
  EXPECT_EQ(node.ask("field=power&gpu=0&gpu=1"), "gpu is given twice");
}

TEST(HistoryView, DrawsSeveralAsLinesAndOneAsACurve) {
  Node node;
  const auto lines = plot_history(node.ask("field=power&since=2m"), {.width = 40, .unicode = true});
  ASSERT_TRUE(lines);
  EXPECT_EQ(*lines,
            "power (watts), last 2m, by reading\n"
            "GPU 0  ▄▄▄▄▄▄▄▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇████\n"
            "       min 100 mean 160 max 219 now 219\n"
            "GPU 1  ▄▄▄▄▄▄▄▅▅▅▅▅▅▅▆▆▆\n"
            "       min 100 mean 130 max 159 now none, hung 59s\n");
  const auto curve = plot_history(node.ask("field=power&gpu=0&since=2m"),
                                  {.width = 33, .height = 4, .unicode = false});
  ASSERT_TRUE(curve);
  EXPECT_EQ(*curve,
            "power (watts), last 2m, by reading\n"
            "    217 |             ..:-==+*##@\n"
            "    145 |  ..:--=+**#@@@@@@@@@@@@\n"
            "        |#@@@@@@@@@@@@@@@@@@@@@@@\n"
            "      0 |@@@@@@@@@@@@@@@@@@@@@@@@\n"
            "         22:13          22:15 UTC\n"
            "GPU 0: min 100 mean 160 max 219 now 219\n");
}

TEST(HistoryView, TablesAtMostSixtyRows) {
  Node node;
  const auto table = view_history(node.ask("field=power&since=2m"));
  ASSERT_TRUE(table);
  EXPECT_EQ(std::ranges::count(*table, '\n'), 62);
  EXPECT_NE(table->find("hung"), std::string::npos);
  EXPECT_EQ(*plot_history(node.ask("field=temperature"), {}),
            "temperature (celsius), last 1h, by reading\nnothing was read yet in that time\n");
}

}  // namespace
}  // namespace stoker::api
