// Health stage: what a check may look at: a field of the table, or what a card says of itself once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/field.h"
#include "health/job_view.h"
#include "model/entity.h"
#include "model/reading.h"
#include "model/unit.h"
#include "store/snapshot.h"

namespace stoker::health {

// What a check is evaluated for. Points into the snapshot.
struct Subject {
  Entity entity;
  std::string name;                         // for people: "GPU 3 (0000:9a:00.0)"
  const store::GpuSnapshot* gpu = nullptr;  // none: the node
  const store::ReadingSet* own = nullptr;   // of the link or MIG instance, or of the node
  const CardWork* work = nullptr;           // of the GPU; none: the node
};

enum class Links : std::uint8_t { left_out, too };

// The node, then its GPUs with their MIG instances and NVLinks. `work` is look_at_jobs() of it, and outlives them.
std::vector<Subject> subjects_of(const store::Snapshot& snapshot, const std::vector<CardWork>& work,
                                 Links links = Links::too);

struct Operand {
  std::string_view name;  // "temperature", "slowdown_celsius": as the table has it
  Unit unit = Unit::none;
  // What its values are about: a check about anything else can't ask for it.
  EntityKind entity = EntityKind::gpu;
  std::optional<FieldId> field;
  Reading (*card)(const Subject& subject) = nullptr;  // without a field: the card's own word

  [[nodiscard]] bool is_counter() const;
  // Does it rest on more than this card: on its job and its processes (health/job_view.h)?
  [[nodiscard]] bool is_of_job() const;
  // A value, or why there is none. What a card does not say of itself is not_supported.
  [[nodiscard]] Reading of(const Subject& subject) const;
  friend bool operator==(const Operand&, const Operand&) = default;
};

// nullopt: there is no such field or word.
std::optional<Operand> find_operand(std::string_view name);
std::vector<std::string> operand_names();

// May a check about `scope` ask for it? A GPU's fields may be asked for its links too, and of a node, whose GPUs
// then all have to meet the condition.
bool may_ask(EntityKind scope, const Operand& operand);

}  // namespace stoker::health
