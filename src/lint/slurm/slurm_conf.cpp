#include "lint/slurm/slurm_conf.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace stoker::lint {
namespace {

constexpr std::size_t longest_count = 1'000'000;
constexpr std::size_t most_names = 4096;

// Where a parameter's value ends: at the next blank outside quotes.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  char quote = 0;
  for (; at < text.size(); ++at) {
    if (quote == 0 && (text[at] == ' ' || text[at] == '\t')) break;
    if (quote == 0 && text[at] == '"') {
      quote = '"';
    } else if (text[at] == quote) {
      quote = 0;
    }
  }
  return at;
}

void read_parameters(std::string_view text, const std::string& file, int number, SlurmLine& line) {
  const auto comment = text.find('#');
  text = text.substr(0, comment);
  for (std::size_t at = 0; at < text.size();) {
    at = text.find_first_not_of(" \t\r", at);
    if (at == std::string_view::npos) return;
    const auto end = text.find_first_of("= \t\r", at);
    SlurmParameter parameter{.key = lower_case(text.substr(at, std::min(end, text.size()) - at)),
                             .value = {},
                             .place = {file, number, static_cast<int>(at) + 1}};
    at = std::min(end, text.size());
    if (at < text.size() && text[at] == '=') {
      const auto stop = end_of_value(text, at + 1);
      auto value = trimmed(text.substr(at + 1, stop - at - 1), "\" \t\r");
      parameter.value = value;
      at = stop;
    }
    line.push_back(std::move(parameter));
  }
}

struct Range {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t width = 0;
};

std::vector<Range> ranges_of(std::string_view inside) {
  std::vector<Range> ranges;
  while (!inside.empty()) {
    const auto part = inside.substr(0, inside.find(','));
    const auto dash = part.find('-');
    const auto first = whole_number<std::size_t>(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : whole_number<std::size_t>(part.substr(dash + 1));
    if (first && last && *last >= *first) {
      ranges.push_back({*first, *last, part.substr(0, dash).size()});
    }
    inside.remove_prefix(std::min(part.size() + 1, inside.size()));
  }
  return ranges;
}

std::string padded(std::size_t number, std::size_t width) {
  std::string text = std::to_string(number);
  return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (auto& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::vector<SlurmLine> read_slurm_conf(std::string_view text, const std::string& file) {
  std::vector<SlurmLine> lines;
  bool goes_on = false;
  for (int number = 1; !text.empty(); ++number) {
    const auto raw = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(raw.size() + 1, text.size()));
    auto line = trimmed(raw, " \t\r");
    const bool continued = line.ends_with('\\');
    if (continued) line.remove_suffix(1);
    if (!goes_on) lines.emplace_back();
    const auto indent = raw.find_first_not_of(" \t");
    std::string with_indent(indent == std::string_view::npos ? 0 : indent, ' ');
    with_indent += line;
    read_parameters(with_indent, file, number, lines.back());
    goes_on = continued;
  }
  std::erase_if(lines, [](const SlurmLine& line) { return line.empty(); });
  return lines;
}

const SlurmParameter* parameter_of(const SlurmLine& line, std::string_view key) {
  const auto at = std::ranges::find(line, key, &SlurmParameter::key);
  return at == line.end() ? nullptr : &*at;
}

std::vector<std::string> split_outside_brackets(std::string_view text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] == '[') ++depth;
    if (at < text.size() && text[at] == ']' && depth > 0) --depth;
    if (at < text.size() && (text[at] != ',' || depth > 0)) continue;
    if (at > begin) parts.emplace_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  return parts;
}

std::size_t count_of_list(std::string_view list) {
  std::size_t all = 0;
  for (const auto& part : split_outside_brackets(list)) {
    std::size_t count = 1;
    std::string_view rest = part;
    for (auto open = rest.find('['); open != std::string_view::npos; open = rest.find('[')) {
      const auto close = std::min(rest.find(']', open), rest.size());
      std::size_t inside = 0;
      for (const auto& range : ranges_of(rest.substr(open + 1, close - open - 1))) {
        inside =
            std::min(inside + std::min(range.last - range.first, longest_count) + 1, longest_count);
      }
      count = std::min(count * std::max<std::size_t>(inside, 1), longest_count);
      rest.remove_prefix(std::min(close + 1, rest.size()));
    }
    all = std::min(all + count, longest_count);
  }
  return all;
}

std::vector<std::string> names_of_list(std::string_view list) {
  std::vector<std::string> names;
  if (count_of_list(list) > most_names) return names;
  for (const auto& part : split_outside_brackets(list)) {
    const auto open = part.find('[');
    const auto close = part.find(']', open == std::string::npos ? 0 : open);
    if (open == std::string::npos || close == std::string::npos) {
      names.push_back(part);
      continue;
    }
    for (const auto& range : ranges_of(std::string_view(part).substr(open + 1, close - open - 1))) {
      for (std::size_t at = 0; at <= range.last - range.first; ++at) {
        names.push_back(part.substr(0, open) + padded(range.first + at, range.width) +
                        part.substr(close + 1));
      }
    }
  }
  return names;
}

}  // namespace stoker::lint
