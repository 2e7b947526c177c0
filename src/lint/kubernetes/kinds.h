// Analyzer stage: the table of kinds that carry pods, as types. Rows stand in kinds.def.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace stoker::lint::kubernetes {

enum class Form : std::uint8_t { pod_template, pod_spec, container, trainer, runner };
enum class Purpose : std::uint8_t { unknown, training, serving, benchmark, system, notebook };
enum class Gives : std::uint8_t { nothing, ray, kserve, runtime };

const char* to_string(Purpose purpose);

struct KindRow {
  std::string_view group;
  std::string_view kind;
  std::string_view path;
  Form form;
  std::string_view role;
  Purpose purpose;
  Gives gives;
};

std::span<const KindRow> all_kinds();

// "apps/v1" -> "apps", "v1" -> "".
std::string_view group_of(std::string_view api_version);

}  // namespace stoker::lint::kubernetes
