#include "inquirer_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "nccl/own_job.h"

namespace stoker::app {
namespace {

constexpr std::size_t most_lines = 24;
constexpr std::size_t longest_line = 1000;  // of an incident's evidence, incident/book.h

// Terminals take C0 and C1 (U+0080 to U+009F, in UTF-8 C2 80 to C2 9F) for commands, ECMA-48.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < ' ' || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

std::string clean(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size() && out.size() < longest_line;) {
    const auto length = utf8_length(text, at);
    const auto character = text.substr(at, std::max<std::size_t>(length, 1));
    out += length == 0 || is_control(character) ? std::string_view("?") : character;
    at += character.size();
  }
  return out;
}

std::string packet(std::string_view name, std::string_view text) {
  return fmt::format("{}\t{}", name, text.substr(0, longest_packet - 64));
}

// `text`, if it is a word that `to_string` has.
template <typename Word>
std::string known(std::string_view text, Word last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (text == nccl::to_string(static_cast<Word>(i))) return std::string(text);
  }
  return {};
}

}  // namespace

std::vector<std::string> packets_of(const nccl::Verdict* verdict,
                                    const std::vector<std::string>& problems) {
  std::vector<std::string> packets;
  if (verdict != nullptr) {
    packets.push_back(packet("class", nccl::to_string(verdict->verdict)));
    packets.push_back(packet("confidence", nccl::to_string(verdict->confidence)));
    packets.push_back(packet("summary", verdict->summary));
    packets.push_back(packet("next", verdict->next_step));
    for (const auto& line : nccl::lines_of(*verdict)) packets.push_back(packet("line", line));
  }
  for (const auto& problem : problems) {
    if (packets.size() + 1 >= most_packets) break;
    packets.push_back(packet("line", "not asked: " + problem));
  }
  return packets;
}

void take_packet(std::string_view packet, JobWord& word) {
  const auto tab = packet.find('\t');
  if (tab == std::string_view::npos) return;
  const auto name = packet.substr(0, tab);
  const auto text = packet.substr(tab + 1);
  if (name == "class") word.verdict = known(text, nccl::Class::unknown);
  if (name == "confidence") word.confidence = known(text, nccl::Confidence::certain);
  if (name == "summary") word.summary = clean(text);
  if (name == "next") word.next_step = clean(text);
  if (name == "line" && word.lines.size() < most_lines) word.lines.push_back(clean(text));
  const bool wrong = !word.verdict.empty() && word.verdict != to_string(nccl::Class::healthy) &&
                     word.verdict != to_string(nccl::Class::unknown);
  word.blames = wrong && (word.confidence == to_string(nccl::Confidence::likely) ||
                          word.confidence == to_string(nccl::Confidence::certain));
}

}  // namespace stoker::app
