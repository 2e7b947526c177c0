// Analyzer stage: why is this out of memory, idle, slow or pending? One picture of a node in, answers with the way to them
// out: what was looked at and what it said, and what is missing where nothing can be said.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/finding.h"

namespace stoker::doctor {

struct WorkPicture {
  std::uint32_t pid = 0;
  std::string name;
  std::optional<double> memory_bytes;
  std::string pod;  // "namespace/name"
  std::string job;  // Slurm's number
};

struct CardPicture {
  int index = 0;
  std::string uuid;
  std::string pci;
  std::string product;
  std::string state;  // "present", "lost", "hung", ...
  std::string detail;
  std::map<std::string, double, std::less<>> readings;      // by the keys of GET /api/v1/gpus
  std::map<std::string, std::string, std::less<>> reasons;  // why a reading is missing
  std::map<std::string, double, std::less<>> limits;
  bool mig = false;
  std::vector<WorkPicture> works;  // processes on the card
  std::string works_unknown;       // why they are not known; empty: they are
  std::vector<std::string> pods;   // that hold it by what the kubelet says
  std::string pods_unknown;
};

struct EventPicture {
  std::string time;
  std::string kind;  // "oom", "xid", ...
  std::string sign;  // "cgroup_oom"
  std::string process;
  std::uint32_t pid = 0;
  std::string pci;
  std::string text;
};

struct NodePicture {
  std::string host;
  std::string time;
  std::vector<CardPicture> cards;
  std::vector<Finding> findings;
  std::vector<EventPicture> events;
  std::string events_unknown;  // why the kernel's log is not known; empty: it is
};

enum class Question : std::uint8_t { oom, idle, slow, pending };
std::optional<Question> question_of(std::string_view word);
const char* to_string(Question question);

enum class Certainty : std::uint8_t { certain, likely, unknown };
const char* to_string(Certainty certainty);

struct Look {
  std::string at;    // what was looked at
  std::string seen;  // what it said
};

struct Answer {
  std::string about;  // "GPU 3", "pod a/b", "pid 4711", "this node"
  Certainty certainty = Certainty::unknown;
  bool wrong = false;  // the conclusion is of something that is not as it should be
  std::string conclusion;
  std::vector<Look> looks;  // in the order of looking
  std::vector<std::string> missing;
  std::string next;
};

// Of whom it is asked: "" all cards, "3" or a UUID or PCI address a card, "pid:N" or a number that no card has a process,
// "namespace/name" or a name a pod. not_found: nothing of the picture is that.
Result<std::vector<Answer>> why(Question question, std::string_view target,
                                const NodePicture& picture);

std::string answers_table(const std::vector<Answer>& answers, std::size_t width);
// {"schema":"stoker.dev/v1/answer","question":..,"answers":[..]}
std::string answers_json(Question question, const std::vector<Answer>& answers);

}  // namespace stoker::doctor
