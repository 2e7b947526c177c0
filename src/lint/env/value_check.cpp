// Is a value one that is documented, and is it read as it is meant?
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/closest.h"
#include "base/text.h"
#include "lint/env/checks.h"

namespace stoker::lint {
namespace {

std::string lowered(std::string_view text) {
  std::string out(text);
  for (auto& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::vector<std::string> split_words(std::string_view text, std::string_view between) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto at = text.find_first_of(between);
    if (at != 0) words.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
  }
  return words;
}

bool has_word(std::string_view words, std::string_view word) {
  const auto all = split_words(words, " ");
  return std::ranges::any_of(all, [&](const auto& each) { return lowered(each) == lowered(word); });
}

void check_range(const Variable& variable, std::string_view range, long long number,
                 EnvReport& report) {
  const auto dots = range.find("..");
  if (dots == std::string_view::npos) return;
  const auto least = whole_number<long long>(range.substr(0, dots));
  const auto most = whole_number<long long>(range.substr(dots + 2));
  if ((least && number < *least) || (most && number > *most)) {
    report.add("nccl-value", variable,
               fmt::format("{} is {}; documented is {}", variable.name, number,
                           most ? fmt::format("{} to {}", *least, *most)
                                : fmt::format("{} and more", *least)));
  }
}

void check_number(const Variable& variable, const KnownVariable& known, EnvReport& report) {
  const auto read = read_number(*variable.value);
  if (!read.whole) {
    report.add("nccl-not-a-number", variable,
               fmt::format("NCCL reads '{}' as the number {}", *variable.value, read.value));
    return;
  }
  if (known.name == "NCCL_IB_TIMEOUT" && (read.value <= 0 || read.value >= 32)) {
    report.add("nccl-ib-timeout", variable,
               fmt::format("NCCL_IB_TIMEOUT={} waits without end", read.value));
    return;
  }
  check_range(variable, known.kind == EnvKind::flag ? "0..1" : known.values, read.value, report);
}

// torch/csrc/distributed/c10d/Utils.hpp: getCvarBool, and getCvarInt with std::stoi.
void check_torch(const Variable& variable, const KnownVariable& known, EnvReport& report) {
  const std::string value = lowered(*variable.value);
  if (known.kind == EnvKind::torch_flag) {
    if (!has_word("y yes 1 t true n no 0 f false", value)) {
      report.add(
          "torch-value", variable,
          fmt::format("torch takes 0 and 1, yes and no, true and false for {}", variable.name));
    }
    return;
  }
  const auto digits = trimmed(value).substr(value.starts_with('-') ? 1 : 0);
  if (digits.empty() || std::isdigit(static_cast<unsigned char>(digits.front())) == 0) {
    report.add("torch-value", variable, fmt::format("torch takes a number for {}", variable.name));
    return;
  }
  check_range(variable, known.values, read_number(value).value, report);
}

// Names of src/graph/topo.cc (topoPathTypeStr), compared letter by letter; a digit at the beginning is the old numbering.
void check_level(const Variable& variable, EnvReport& report) {
  const std::string_view value = *variable.value;
  constexpr std::string_view levels = "LOC NVL NVB C2C PIX PXB P2C PXN PHB SYS NET DIS";
  const auto words = split_words(levels, " ");
  if (std::ranges::find(words, value) != words.end()) return;
  if (std::isdigit(static_cast<unsigned char>(value.front())) != 0) return;
  report.add(
      "nccl-value", variable,
      fmt::format("{} is none of LOC, NVL, PIX, PXB, PHB and SYS, in capital letters, and is "
                  "ignored",
                  value));
}

struct AlgorithmRow {
  std::string_view word;
  NcclVersion since;
  NcclVersion until;
};
// ncclAlgoStr of src/ at the tags 2.5.6 to 2.30.7.
constexpr NcclVersion for_good{.major = 99, .minor = 0};
constexpr auto algorithms = std::to_array<AlgorithmRow>({{"tree", {2, 5}, for_good},
                                                         {"ring", {2, 5}, for_good},
                                                         {"collnet", {2, 5}, {2, 14}},
                                                         {"collnetdirect", {2, 14}, for_good},
                                                         {"collnetchain", {2, 14}, for_good},
                                                         {"nvls", {2, 17}, for_good},
                                                         {"nvlstree", {2, 18}, for_good},
                                                         {"pat", {2, 23}, for_good}});

bool has_algorithm(std::string_view word, const std::optional<NcclVersion>& nccl) {
  const auto* row = std::ranges::find(algorithms, word, &AlgorithmRow::word);
  if (row == algorithms.end()) return false;
  return !nccl || (row->since <= *nccl && *nccl < row->until);
}

// Since then a choice may be made by function, and a word that is unknown is an error (src/graph/tuning.cc, parseList).
constexpr NcclVersion choice_by_function{.major = 2, .minor = 24};

// "ring,tree", "^tree", and since 2.24 "allreduce:ring;broadcast:^tree".
void check_choice(const Variable& variable, const KnownVariable& known, const EnvContext& context,
                  EnvReport& report) {
  const bool by_function = !context.nccl || *context.nccl >= choice_by_function;
  for (const auto& part : split_words(lowered(*variable.value), by_function ? ";" : "")) {
    const auto colon = by_function ? part.find(':') : std::string::npos;
    auto list = part.substr(colon == std::string::npos ? 0 : colon + 1);
    if (list.starts_with('^')) list.erase(0, 1);
    for (const auto& word : split_words(list, ",")) {
      const bool fits = known.kind == EnvKind::algorithms ? has_algorithm(word, context.nccl)
                                                          : has_word("ll ll128 simple", word);
      if (fits) continue;
      auto& finding = report.add("nccl-algo-unknown", variable,
                                 fmt::format("{} of NCCL{} has no '{}'", variable.name,
                                             context.nccl ? " " + context.nccl->text() : "", word));
      if (!by_function) finding.severity = Severity::warning;
      return;
    }
  }
  if (known.kind == EnvKind::protocols && lowered(*variable.value) == "ll128") {
    report.add("nccl-proto-ll128", variable, "NCCL_PROTO allows nothing but LL128");
  }
}

void check_subsystems(const Variable& variable, EnvReport& report) {
  auto list = std::string_view(*variable.value);
  if (list.starts_with('^')) list.remove_prefix(1);
  for (const auto& word : split_words(list, ",")) {
    if (has_word(
            "INIT COLL P2P SHM NET GRAPH TUNING ENV ALLOC ALLOC_HOST CALL PROXY NVLS BOOTSTRAP REG "
            "PROFILE RAS DESTROY ALL",
            word)) {
      continue;
    }
    report.add("nccl-value", variable,
               fmt::format("NCCL_DEBUG_SUBSYS knows no '{}' and skips it", word));
  }
}

}  // namespace

void check_value(const Variable& variable, const KnownVariable& known, const EnvContext& context,
                 EnvReport& report) {
  switch (known.kind) {
    case EnvKind::flag:
    case EnvKind::number: return check_number(variable, known, report);
    case EnvKind::torch_flag:
    case EnvKind::torch_number: return check_torch(variable, known, report);
    case EnvKind::level: return check_level(variable, report);
    case EnvKind::algorithms:
    case EnvKind::protocols: return check_choice(variable, known, context, report);
    case EnvKind::subsystems: return check_subsystems(variable, report);
    case EnvKind::words:
      if (!has_word(known.values, *variable.value)) {
        report.add(
            known.name.starts_with("TORCH_") ? "torch-value" : "nccl-value", variable,
            fmt::format("{} is one of {}", variable.name, listed(split_words(known.values, " "))));
      }
      return;
    case EnvKind::interfaces:
    case EnvKind::gloo_interfaces:
    case EnvKind::hcas:
    case EnvKind::text: return;
  }
}

}  // namespace stoker::lint
