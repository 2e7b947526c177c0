#include "db/incident_rows.h"

#include <fmt/format.h>

#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace stoker::db {
namespace {

std::int64_t number(WallTime time) { return time.since_epoch.count(); }
WallTime time_of(const SQLite::Column& column) { return {Nanoseconds(column.getInt64())}; }
std::optional<WallTime> maybe_time(const SQLite::Column& column) {
  if (column.isNull()) return std::nullopt;
  return time_of(column);
}
std::int64_t number(std::uint64_t count) { return static_cast<std::int64_t>(count); }
std::uint64_t count_of(const SQLite::Column& column) {
  return static_cast<std::uint64_t>(column.getInt64());
}

template <typename T>
T known(std::optional<T> value, const std::string& word) {
  if (!value) throw std::runtime_error(fmt::format("\"{}\" is no word of this build", word));
  return *value;
}

// Fills a statement's places one after the other.
class Fill {
 public:
  Fill(SQLite::Database& database, const char* sql) : statement_(database, sql) {}
  Fill& operator<<(std::int64_t value) {
    statement_.bind(++place_, value);
    return *this;
  }
  Fill& operator<<(const std::string& value) {
    statement_.bind(++place_, value);
    return *this;
  }
  Fill& operator<<(const std::optional<WallTime>& value) {
    if (value) return *this << number(*value);
    statement_.bind(++place_);
    return *this;
  }
  void run() {
    statement_.exec();
    statement_.reset();
    place_ = 0;
  }

 private:
  SQLite::Statement statement_;
  int place_ = 0;
};

void clear(SQLite::Database& database, const char* sql, std::uint64_t id) {
  Fill(database, sql).operator<<(number(id)).run();
}

void write_lists(SQLite::Database& database, const Incident& incident) {
  const std::int64_t id = number(incident.id);
  std::int64_t place = 0;
  clear(database, "DELETE FROM evidence WHERE incident = ?", incident.id);
  Fill evidence(database, "INSERT INTO evidence VALUES (?, ?, ?, ?)");
  for (const auto& one : incident.evidence) {
    (evidence << id << place++ << number(one.at) << one.text).run();
  }
  clear(database, "DELETE FROM timeline WHERE incident = ?", incident.id);
  Fill timeline(database, "INSERT INTO timeline VALUES (?, ?, ?, ?, ?)");
  for (const auto& one : incident.timeline) {
    (timeline << id << place++ << number(one.at) << one.who << one.what).run();
  }
  clear(database, "DELETE FROM program WHERE incident = ?", incident.id);
  Fill program(database, "INSERT INTO program VALUES (?, ?, ?)");
  for (const auto& one : incident.programs) (program << id << place++ << one).run();
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

std::vector<std::string> parted(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void write_looks(SQLite::Database& database, const Incident& incident) {
  clear(database, "DELETE FROM look WHERE incident = ?", incident.id);
  Fill look(database, "INSERT INTO look VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  std::int64_t place = 0;
  for (const auto& one : incident.looks) {
    look << number(incident.id) << place++ << number(one.at) << std::string(to_string(one.kind))
         << std::int64_t{one.made} << std::int64_t{one.late} << one.boot << joined(one.lines);
    look.run();
  }
}

Look read_look(SQLite::Statement& row) {
  const auto kind = row.getColumn(1).getString();
  return {.at = time_of(row.getColumn(0)),
          .kind = known(look_kind_of(kind), kind),
          .made = row.getColumn(2).getInt() != 0,
          .late = row.getColumn(3).getInt() != 0,
          .boot = row.getColumn(4).getString(),
          .lines = parted(row.getColumn(5).getString())};
}

void write_findings(SQLite::Database& database, const Incident& incident) {
  clear(database, "DELETE FROM finding WHERE incident = ?", incident.id);
  Fill finding(database, "INSERT INTO finding VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  std::int64_t place = 0;
  for (const auto& one : incident.findings) {
    finding << number(incident.id) << place++ << one.rule << to_string(one.entity.kind)
            << one.entity.id << to_string(one.severity)
            << std::string(one.action ? to_string(*one.action) : "") << one.since << one.message
            << one.cause << one.fix << one.source;
    finding.run();
  }
}

template <typename Take>
void each(SQLite::Database& database, const char* sql, std::uint64_t id, Take take) {
  SQLite::Statement rows(database, sql);
  rows.bind(1, number(id));
  while (rows.executeStep()) take(rows);
}

Finding read_finding(SQLite::Statement& row) {
  Finding finding;
  finding.rule = row.getColumn(0).getString();
  finding.entity.kind =
      known(entity_kind_of(row.getColumn(1).getString()), row.getColumn(1).getString());
  finding.entity.id = row.getColumn(2).getString();
  finding.severity = known(severity_of(row.getColumn(3).getString()), row.getColumn(3).getString());
  finding.action = action_of(row.getColumn(4).getString());
  finding.since = maybe_time(row.getColumn(5));
  finding.message = row.getColumn(6).getString();
  finding.cause = row.getColumn(7).getString();
  finding.fix = row.getColumn(8).getString();
  finding.source = row.getColumn(9).getString();
  return finding;
}

void read_lists(SQLite::Database& database, Incident& incident) {
  each(database, "SELECT at, text FROM evidence WHERE incident = ? ORDER BY place", incident.id,
       [&](SQLite::Statement& row) {
         incident.evidence.push_back({time_of(row.getColumn(0)), row.getColumn(1).getString()});
       });
  each(database, "SELECT at, who, what FROM timeline WHERE incident = ? ORDER BY place",
       incident.id, [&](SQLite::Statement& row) {
         incident.timeline.push_back({time_of(row.getColumn(0)), row.getColumn(1).getString(),
                                      row.getColumn(2).getString()});
       });
  each(database,
       "SELECT at, kind, made, late, boot, text FROM look WHERE incident = ? ORDER BY place",
       incident.id, [&](SQLite::Statement& row) { incident.looks.push_back(read_look(row)); });
  each(database, "SELECT name FROM program WHERE incident = ? ORDER BY place", incident.id,
       [&](SQLite::Statement& row) { incident.programs.push_back(row.getColumn(0).getString()); });
  each(database,
       "SELECT rule, entity_kind, entity, severity, action, since, message, cause, fix, source "
       "FROM finding WHERE incident = ? ORDER BY place",
       incident.id,
       [&](SQLite::Statement& row) { incident.findings.push_back(read_finding(row)); });
}

}  // namespace

void write_incident(SQLite::Database& database, const Incident& incident) {
  Fill row(
      database,
      "INSERT INTO incident VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, state = excluded.state, "
      "entity_kind = excluded.entity_kind, entity = excluded.entity, cause = excluded.cause, "
      "subject = excluded.subject, about = excluded.about, pci = excluded.pci, "
      "serial = excluded.serial, boot = excluded.boot, severity = excluded.severity, "
      "action = excluded.action, action_of_driver = excluded.action_of_driver, "
      "message = excluded.message, explanation = excluded.explanation, fix = excluded.fix, "
      "source = excluded.source, opened_at = excluded.opened_at, "
      "updated_at = excluded.updated_at, last_seen = excluded.last_seen, "
      "proving_since = excluded.proving_since, resolved_at = excluded.resolved_at, "
      "suppressed_until = excluded.suppressed_until, occurrences = excluded.occurrences, "
      "recurrence = excluded.recurrence, stands = excluded.stands, "
      "evidence_left_out = excluded.evidence_left_out, "
      "told_message = excluded.told_message, told_fix = excluded.told_fix, "
      "told_source = excluded.told_source, told_occurrences = excluded.told_occurrences, "
      "told_programs = excluded.told_programs, told_evidence = excluded.told_evidence");
  row << number(incident.id) << number(incident.revision) << to_string(incident.state)
      << to_string(incident.entity.kind) << incident.entity.id << incident.cause << incident.subject
      << incident.about << incident.pci << incident.serial << incident.boot
      << to_string(incident.severity) << to_string(incident.action)
      << std::int64_t{incident.action_of_driver} << incident.message << incident.explanation
      << incident.fix << incident.source << number(incident.opened_at)
      << number(incident.updated_at) << number(incident.last_seen) << incident.proving_since
      << incident.resolved_at << incident.suppressed_until << number(incident.occurrences)
      << number(incident.recurrence) << std::int64_t{incident.stands}
      << number(incident.evidence_left_out) << incident.told.message << incident.told.fix
      << incident.told.source << number(incident.told.occurrences) << number(incident.told.programs)
      << number(incident.told.evidence);
  row.run();
  write_lists(database, incident);
  write_findings(database, incident);
  write_looks(database, incident);
}

Incident read_incident(SQLite::Database& database, SQLite::Statement& row) {
  Incident incident;
  const auto text = [&row](const char* name) { return row.getColumn(name).getString(); };
  incident.id = count_of(row.getColumn("id"));
  incident.revision = count_of(row.getColumn("revision"));
  incident.state = known(incident_state_of(text("state")), text("state"));
  incident.entity = {known(entity_kind_of(text("entity_kind")), text("entity_kind")),
                     text("entity")};
  incident.cause = text("cause");
  incident.subject = text("subject");
  incident.about = text("about");
  incident.pci = text("pci");
  incident.serial = text("serial");
  incident.boot = text("boot");
  incident.severity = known(severity_of(text("severity")), text("severity"));
  incident.action = known(action_of(text("action")), text("action"));
  incident.action_of_driver = row.getColumn("action_of_driver").getInt() != 0;
  incident.message = text("message");
  incident.explanation = text("explanation");
  incident.fix = text("fix");
  incident.source = text("source");
  incident.opened_at = time_of(row.getColumn("opened_at"));
  incident.updated_at = time_of(row.getColumn("updated_at"));
  incident.last_seen = time_of(row.getColumn("last_seen"));
  incident.proving_since = maybe_time(row.getColumn("proving_since"));
  incident.resolved_at = maybe_time(row.getColumn("resolved_at"));
  incident.suppressed_until = maybe_time(row.getColumn("suppressed_until"));
  incident.occurrences = count_of(row.getColumn("occurrences"));
  incident.recurrence = count_of(row.getColumn("recurrence"));
  incident.stands = row.getColumn("stands").getInt() != 0;
  incident.evidence_left_out = count_of(row.getColumn("evidence_left_out"));
  incident.told = {text("told_message"),
                   text("told_fix"),
                   text("told_source"),
                   count_of(row.getColumn("told_occurrences")),
                   count_of(row.getColumn("told_programs")),
                   count_of(row.getColumn("told_evidence"))};
  read_lists(database, incident);
  return incident;
}

}  // namespace stoker::db
