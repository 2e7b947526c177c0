// Edge: one incident as rows, and back.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include "model/incident.h"

namespace stoker::db {

inline constexpr const char* incident_schema = R"(
CREATE TABLE incident (
  id INTEGER PRIMARY KEY, revision INTEGER NOT NULL, state TEXT NOT NULL,
  entity_kind TEXT NOT NULL, entity TEXT NOT NULL, cause TEXT NOT NULL, subject TEXT NOT NULL,
  about TEXT NOT NULL, pci TEXT NOT NULL, serial TEXT NOT NULL, boot TEXT NOT NULL,
  severity TEXT NOT NULL, action TEXT NOT NULL, action_of_driver INTEGER NOT NULL,
  message TEXT NOT NULL, explanation TEXT NOT NULL, fix TEXT NOT NULL, source TEXT NOT NULL,
  opened_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, last_seen INTEGER NOT NULL,
  proving_since INTEGER, resolved_at INTEGER, suppressed_until INTEGER,
  occurrences INTEGER NOT NULL, recurrence INTEGER NOT NULL, stands INTEGER NOT NULL,
  evidence_left_out INTEGER NOT NULL) STRICT;
CREATE INDEX incident_state ON incident (state, id);
CREATE TABLE evidence (
  incident INTEGER NOT NULL REFERENCES incident ON DELETE CASCADE, place INTEGER NOT NULL,
  at INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (incident, place)) STRICT, WITHOUT ROWID;
CREATE TABLE timeline (
  incident INTEGER NOT NULL REFERENCES incident ON DELETE CASCADE, place INTEGER NOT NULL,
  at INTEGER NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL,
  PRIMARY KEY (incident, place)) STRICT, WITHOUT ROWID;
CREATE TABLE program (
  incident INTEGER NOT NULL REFERENCES incident ON DELETE CASCADE, place INTEGER NOT NULL,
  name TEXT NOT NULL, PRIMARY KEY (incident, place)) STRICT, WITHOUT ROWID;
CREATE TABLE finding (
  incident INTEGER NOT NULL REFERENCES incident ON DELETE CASCADE, place INTEGER NOT NULL,
  rule TEXT NOT NULL, entity_kind TEXT NOT NULL, entity TEXT NOT NULL, severity TEXT NOT NULL,
  action TEXT, since INTEGER, message TEXT NOT NULL, cause TEXT NOT NULL, fix TEXT NOT NULL,
  source TEXT NOT NULL, PRIMARY KEY (incident, place)) STRICT, WITHOUT ROWID;
CREATE TABLE sent (
  incident INTEGER NOT NULL REFERENCES incident ON DELETE CASCADE, target TEXT NOT NULL,
  revision INTEGER NOT NULL, PRIMARY KEY (incident, target)) STRICT, WITHOUT ROWID;
CREATE TABLE read_mark (
  source TEXT PRIMARY KEY, boot TEXT NOT NULL, place INTEGER NOT NULL,
  at INTEGER NOT NULL, since INTEGER NOT NULL) STRICT;
)";

// Of version 2: what was told with a revision, and since when a target of messages is there.
inline constexpr const char* told_schema = R"(
ALTER TABLE incident ADD COLUMN told_message TEXT NOT NULL DEFAULT '';
ALTER TABLE incident ADD COLUMN told_fix TEXT NOT NULL DEFAULT '';
ALTER TABLE incident ADD COLUMN told_source TEXT NOT NULL DEFAULT '';
ALTER TABLE incident ADD COLUMN told_occurrences INTEGER NOT NULL DEFAULT 0;
ALTER TABLE incident ADD COLUMN told_programs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE incident ADD COLUMN told_evidence INTEGER NOT NULL DEFAULT 0;
UPDATE incident SET told_message = message, told_fix = fix, told_source = source,
  told_occurrences = occurrences,
  told_programs = (SELECT count(*) FROM program WHERE incident = incident.id),
  told_evidence = (SELECT count(*) FROM evidence WHERE incident = incident.id);
CREATE TABLE target (name TEXT PRIMARY KEY, after INTEGER NOT NULL) STRICT;
)";

// Of version 3: what was so when an incident opened, and five minutes later. A line of a look is a line of `text`.
inline constexpr const char* look_schema = R"(
CREATE TABLE look (
  incident INTEGER NOT NULL REFERENCES incident ON DELETE CASCADE, place INTEGER NOT NULL,
  at INTEGER NOT NULL, kind TEXT NOT NULL, made INTEGER NOT NULL, late INTEGER NOT NULL,
  boot TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (incident, place)) STRICT, WITHOUT ROWID;
)";

// Throw SQLite::Exception; std::runtime_error for a word that this build does not know.
void write_incident(SQLite::Database& database, const Incident& incident);
Incident read_incident(SQLite::Database& database, SQLite::Statement& row);

}  // namespace stoker::db
