// What is saved is there after a restart, whole or not at all; a file that is none says so.
#include "db/incident_db.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "db/incident_rows.h"

namespace stoker::db {
namespace {

using ::testing::HasSubstr;

WallTime at(std::int64_t seconds) { return {Seconds(1'700'000'000 + seconds)}; }

Incident full(std::uint64_t id) {
  Incident one;
  one.id = id;
  one.revision = 7;
  one.state = IncidentState::suppressed;
  one.entity = {EntityKind::gpu, "GPU-1"};
  one.cause = "gpu-off-bus";
  one.subject = "it's \"quoted\"; DROP TABLE incident";
  one.about = "GPU 3 (0000:9a:00.0)";
  one.pci = "0000:9a:00.0";
  one.serial = "serial-1";
  one.boot = "boot-1";
  one.severity = Severity::critical;
  one.action = Action::reboot;
  one.action_of_driver = true;
  one.message = "it fell off \xc3\xa4";
  one.explanation = "why";
  one.fix = "how";
  one.source = "https://example.org";
  one.opened_at = at(1);
  one.updated_at = at(2);
  one.last_seen = at(3);
  one.proving_since = at(4);
  one.suppressed_until = at(6);
  one.programs = {"job 12", "pid 9"};
  one.occurrences = 1ULL << 40;
  one.recurrence = 2;
  one.stands = true;
  one.evidence = {{at(1), "NVRM: Xid"}, {at(2), ""}};
  one.evidence_left_out = 5;
  one.timeline = {{at(1), "stoker", "opened"}, {at(5), "alice", "suppressed"}};
  Finding finding;
  finding.rule = "gpu-lost";
  finding.severity = Severity::critical;
  finding.entity = one.entity;
  finding.action = Action::reboot;
  finding.since = at(1);
  finding.message = "GPU 3 is lost";
  one.findings = {finding};
  one.looks = {{.at = at(1), .boot = "boot-1", .lines = {"power_watts: 1", "programs: none"}},
               {.at = at(2), .kind = LookKind::afterwards, .made = false, .late = true}};
  one.told = {"told so", "told how", "https://example.org/told", 3, 1, 2};
  return one;
}

void expect_same(const Incident& one, const Incident& other) {
  EXPECT_EQ(one.id, other.id);
  EXPECT_EQ(one.revision, other.revision);
  EXPECT_EQ(one.state, other.state);
  EXPECT_EQ(one.entity, other.entity);
  EXPECT_EQ(one.cause, other.cause);
  EXPECT_EQ(one.subject, other.subject);
  EXPECT_EQ(one.about, other.about);
  EXPECT_EQ(one.pci, other.pci);
  EXPECT_EQ(one.serial, other.serial);
  EXPECT_EQ(one.boot, other.boot);
  EXPECT_EQ(one.severity, other.severity);
  EXPECT_EQ(one.action, other.action);
  EXPECT_EQ(one.action_of_driver, other.action_of_driver);
  EXPECT_EQ(one.message, other.message);
  EXPECT_EQ(one.explanation, other.explanation);
  EXPECT_EQ(one.fix, other.fix);
  EXPECT_EQ(one.source, other.source);
  EXPECT_EQ(one.opened_at, other.opened_at);
  EXPECT_EQ(one.updated_at, other.updated_at);
  EXPECT_EQ(one.last_seen, other.last_seen);
  EXPECT_EQ(one.proving_since, other.proving_since);
  EXPECT_EQ(one.resolved_at, other.resolved_at);
  EXPECT_EQ(one.suppressed_until, other.suppressed_until);
  EXPECT_EQ(one.programs, other.programs);
  EXPECT_EQ(one.occurrences, other.occurrences);
  EXPECT_EQ(one.recurrence, other.recurrence);
  EXPECT_EQ(one.stands, other.stands);
  EXPECT_EQ(one.evidence, other.evidence);
  EXPECT_EQ(one.evidence_left_out, other.evidence_left_out);
  EXPECT_EQ(one.timeline, other.timeline);
  EXPECT_EQ(one.told, other.told);
  EXPECT_EQ(one.looks, other.looks);
  ASSERT_EQ(one.findings.size(), other.findings.size());
  for (std::size_t n = 0; n < one.findings.size(); ++n) {
    EXPECT_EQ(one.findings[n].rule, other.findings[n].rule);
    EXPECT_EQ(one.findings[n].entity, other.findings[n].entity);
    EXPECT_EQ(one.findings[n].severity, other.findings[n].severity);
    EXPECT_EQ(one.findings[n].action, other.findings[n].action);
    EXPECT_EQ(one.findings[n].since, other.findings[n].since);
    EXPECT_EQ(one.findings[n].message, other.findings[n].message);
  }
}

class IncidentFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "incidentsXXXXXX";
    folder = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  [[nodiscard]] std::string path() const { return folder / "incidents.db"; }

  std::filesystem::path folder;
};

TEST_F(IncidentFile, GivesBackEverythingThatWasSaved) {
  const ReadMark mark{"/dev/kmsg", "boot-1", 77, {Seconds(3)}, at(1)};
  {
    auto db = IncidentDb::open(path());
    ASSERT_TRUE(db) << db.error().describe();
    ASSERT_TRUE((*db)->save(std::vector{full(1), full(2)}, std::vector{mark}));
    ASSERT_TRUE((*db)->save(SentMark{"webhook", 2, 6}));
    ASSERT_TRUE((*db)->save(SentMark{"webhook", 2, 7}));
    EXPECT_FALSE((*db)->save(SentMark{"webhook", 3, 1})) << "there is no such incident";
    ASSERT_TRUE((*db)->save(TargetMark{"webhook", 1}));
  }
  auto db = IncidentDb::open(path());
  ASSERT_TRUE(db);
  const auto kept = (*db)->load(10);
  ASSERT_TRUE(kept) << kept.error().describe();
  ASSERT_EQ(kept->incidents.size(), 2U);
  expect_same(kept->incidents[0], full(1));
  expect_same(kept->incidents[1], full(2));
  EXPECT_EQ(kept->marks, std::vector{mark});
  EXPECT_EQ(kept->sent, (std::vector{SentMark{"webhook", 2, 7}}));
  EXPECT_EQ(kept->targets, (std::vector{TargetMark{"webhook", 1}}));
}

TEST_F(IncidentFile, OneOfTheFirstVersionIsReadAndWrittenOn) {
  {
    SQLite::Database old(path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    old.exec(incident_schema);
    old.exec("PRAGMA user_version = 1");
    old.exec(
        "INSERT INTO incident VALUES (4, 2, 'open', 'gpu', 'GPU-1', 'gpu-off-bus', '', 'GPU 1', "
        "'', '', '', 'critical', 'reboot', 0, 'it fell off', '', 'how', 'who', 1, 1, 1, NULL, "
        "NULL, NULL, 9, 0, 1, 0)");
    old.exec("INSERT INTO evidence VALUES (4, 0, 1, 'a line'), (4, 1, 2, 'another')");
  }
  auto db = IncidentDb::open(path());
  ASSERT_TRUE(db) << db.error().describe();
  const auto kept = (*db)->load(10);
  ASSERT_TRUE(kept) << kept.error().describe();
  ASSERT_EQ(kept->incidents.size(), 1U);
  EXPECT_EQ(kept->incidents[0].told, (Told{"it fell off", "how", "who", 9, 0, 2}));
  ASSERT_TRUE((*db)->save(std::vector{full(5)}, {}));
  EXPECT_TRUE(IncidentDb::open(path()));
}

TEST_F(IncidentFile, KeepsTheLastStateOfEach) {
  auto db = IncidentDb::open(path());
  ASSERT_TRUE(db);
  auto one = full(1);
  ASSERT_TRUE((*db)->save(std::vector{one}, {}));
  one.state = IncidentState::open;
  one.evidence = {{at(9), "only this"}};
  one.findings.clear();
  one.programs.clear();
  one.timeline.clear();
  one.suppressed_until.reset();
  ASSERT_TRUE((*db)->save(std::vector{one}, {}));
  const auto kept = (*db)->load(10);
  ASSERT_EQ(kept->incidents.size(), 1U);
  expect_same(kept->incidents[0], one);
}

TEST_F(IncidentFile, LoadsTheLastOfThoseThatAreOverAndAllOthers) {
  auto db = IncidentDb::open(path());
  std::vector<Incident> all;
  for (std::uint64_t id = 1; id <= 20; ++id) {
    all.push_back(full(id));
    if (id > 1) all.back().state = IncidentState::resolved;
  }
  ASSERT_TRUE((*db)->save(all, {}));
  const auto kept = (*db)->load(3);
  std::vector<std::uint64_t> ids;
  for (const auto& one : kept->incidents) ids.push_back(one.id);
  EXPECT_THAT(ids, ::testing::ElementsAre(1, 18, 19, 20));
}

TEST_F(IncidentFile, OneThatIsNoDatabaseIsCorrupt) {
  std::ofstream(path()) << std::string(4096, 'x');
  const auto db = IncidentDb::open(path());
  ASSERT_FALSE(db);
  EXPECT_EQ(db.error().code(), ErrorCode::corrupt);
  EXPECT_THAT(db.error().describe(), HasSubstr(path()));
}

TEST_F(IncidentFile, OneOfANewerStokerIsRefusedAndLeftAsItIs) {
  ASSERT_TRUE(IncidentDb::open(path()));
  SQLite::Database(path(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  const auto db = IncidentDb::open(path());
  ASSERT_FALSE(db);
  EXPECT_EQ(db.error().code(), ErrorCode::not_supported);
  EXPECT_THAT(db.error().describe(), HasSubstr("version 99"));
}

TEST_F(IncidentFile, OneInAFolderThatIsNotThereSaysWhich) {
  const auto db = IncidentDb::open(path() + "/no/such");
  ASSERT_FALSE(db);
  EXPECT_THAT(db.error().describe(), HasSubstr("/no/such"));
}

}  // namespace
}  // namespace stoker::db
