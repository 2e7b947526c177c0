#include "model/render.h"

#include <gtest/gtest.h>

#include "model/wrap.h"

namespace stoker {
namespace {

Finding hung_gpu() {
  Finding finding;
  finding.rule = "gpu-hung";
  finding.severity = Severity::critical;
  finding.since = WallTime{Seconds(1'700'000'000)};
  finding.entity = {EntityKind::gpu, "GPU-6f1a"};
  finding.message = "GPU 3 does not answer: nvmlDeviceGetPowerUsage has not returned for 14 s.";
  finding.cause = "The driver waits for the card's firmware.";
  finding.action = Action::reset_gpu;
  finding.fix = "Stop what runs on it, then reset it.";
  finding.source = "https://example.org/xid#119";
  finding.evidence = {"power: last read 14 s ago", "Xid 119 at 12:00:01"};
  return finding;
}

Finding wrong_key() {
  Finding finding;
  finding.rule = "config-unknown-key";
  finding.severity = Severity::error;
  finding.entity = {EntityKind::file, "my stoker.yaml"};
  finding.location = FileLocation{"my stoker.yaml", 3, 5};
  finding.message = "there is no option \"sim.profle\"";
  finding.fix = "did you mean 'sim.profile'?";
  return finding;
}

TEST(RenderFindings, AsABlockForPeople) {
  const Finding findings[] = {hung_gpu(), wrong_key()};
  EXPECT_EQ(render_table(findings),
            R"(critical  gpu-hung  gpu GPU-6f1a
  what    GPU 3 does not answer: nvmlDeviceGetPowerUsage has not returned for 14
          s.
  why     The driver waits for the card's firmware.
  do      reset_gpu: Stop what runs on it, then reset it.
  since   2023-11-14T22:13:20.000Z
  seen    power: last read 14 s ago
  seen    Xid 119 at 12:00:01
  source  https://example.org/xid#119

error     config-unknown-key  my stoker.yaml:3:5
  what    there is no option "sim.profle"
  do      did you mean 'sim.profile'?
)");
}

TEST(RenderFindings, WithoutWhatATerminalWouldObey) {
  Finding finding = hung_gpu();
  finding.entity.id = "GPU\x1b]0;title\x07";
  finding.message =
      "red\x1b[31m\nand \xC2\x9b"
      "1mbold";
  finding.evidence = {"\x1b[2Jcleared"};
  const std::string table = render_table(std::span(&finding, 1));
  EXPECT_EQ(table.find_first_of("\x1b\x07"), std::string::npos) << table;
  EXPECT_EQ(table.find("\xC2\x9b"), std::string::npos) << table;
  EXPECT_NE(table.find("\n          and "), std::string::npos) << "its line breaks are kept";
}

TEST(RenderFindings, InColourOnlyWhereAsked) {
  const Finding findings[] = {hung_gpu()};
  EXPECT_EQ(render_table(findings).find('\x1b'), std::string::npos);
  EXPECT_EQ(
      render_table(findings, {.colour = true}).rfind("\x1b[1;31mcritical  \x1b[0mgpu-hung", 0), 0U);
}

TEST(RenderFindings, AsJsonWithEveryKeyOfTheContract) {
  const Finding findings[] = {wrong_key()};
  EXPECT_EQ(render_json(findings),
            R"({"schema":"stoker.dev/v1/finding","findings":[{"rule":"config-unknown-key",)"
            R"("severity":"error","state":"firing","since":null,"since_reason":"not_applicable",)"
            R"("entity":"file:my stoker.yaml","file":"my stoker.yaml","line":3,"column":5,)"
            R"("message":"there is no option \"sim.profle\"",)"
            R"("cause":null,"cause_reason":"not_applicable",)"
            R"("action":null,"action_reason":"not_applicable",)"
            R"("fix":"did you mean 'sim.profile'?",)"
            R"("source":null,"source_reason":"not_applicable","evidence":[]}]})");
  EXPECT_EQ(render_json({}), R"({"schema":"stoker.dev/v1/finding","findings":[]})");
}

TEST(RenderFindings, AsSarifWithPlacesAndRules) {
  const Finding findings[] = {hung_gpu(), wrong_key()};
  const auto text = render_sarif(findings, "0.1.0");
  EXPECT_EQ(
      text.rfind(R"({"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0",)"
                 R"("runs":[{"tool":{"driver":{"name":"stoker","version":"0.1.0","rules":[)"
                 R"({"id":"config-unknown-key"},)"
                 R"({"id":"gpu-hung","helpUri":"https://example.org/xid#119"}]}},"results":[)"
                 R"({"ruleId":"gpu-hung","ruleIndex":1,"level":"error",)",
                 0),
      0U)
      << text;
  EXPECT_NE(text.find(R"("physicalLocation":{"artifactLocation":{"uri":"my%20stoker.yaml"},)"
                      R"("region":{"startLine":3,"startColumn":5}})"),
            std::string::npos);
  EXPECT_NE(text.find(R"("logicalLocations":[{"fullyQualifiedName":"gpu:GPU-6f1a","kind":"gpu"}])"),
            std::string::npos);
}

TEST(RenderFindings, NothingForNoFindings) { EXPECT_EQ(render_table({}), ""); }

TEST(Wrap, CountsCharactersAndKeepsLongWordsWhole) {
  EXPECT_EQ(columns("25 °C"), 5U);
  EXPECT_EQ(pad("°", 3), "°  ");
  EXPECT_EQ(wrap("aa bb cc", 5), (std::vector<std::string>{"aa bb", "cc"}));
  EXPECT_EQ(wrap("https://long/url x", 5), (std::vector<std::string>{"https://long/url", "x"}));
  EXPECT_EQ(wrap("a\nb", 9), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(wrap("", 9), (std::vector<std::string>{""}));
}

}  // namespace
}  // namespace stoker
