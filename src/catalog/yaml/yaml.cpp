#include "catalog/yaml/yaml.h"

#include <libfyaml.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <tuple>

#include "base/utf8.h"
#include "catalog/yaml/collecting_diag.h"
#include "catalog/yaml/text_check.h"
#include "catalog/yaml/view.h"

namespace stoker::yaml {
namespace {

constexpr int deepest = 32;
constexpr std::size_t largest_file = 1 << 20;

struct DocumentDelete {
  void operator()(fy_document* document) const { fy_document_destroy(document); }
};

Place place_of(const fy_mark* mark) {
  return mark == nullptr ? Place{} : Place{mark->line + 1, mark->column + 1};
}

class Converter {
 public:
  explicit Converter(Problems& problems) : problems_(problems) {}

  // libfyaml tells where scalars stand; a list or map stands where its first scalar does, and what
  // is empty stands at `otherwise`.
  Node convert(fy_node* from, Place otherwise, int depth) {
    Node node;
    node.place = otherwise;
    if (from == nullptr) return node;
    if (depth > deepest) {
      problems_.add(otherwise, "nested more than 32 deep");
      return node;
    }
    if (fy_node_is_alias(from)) {
      problems_.add(scalar_place(from), "aliases (*name) are not taken here; write the value out");
      return node;
    }
    switch (fy_node_get_type(from)) {
      case FYNT_SCALAR: scalar(from, node); break;
      case FYNT_SEQUENCE: list(from, node, depth); break;
      case FYNT_MAPPING: map(from, node, depth); break;
    }
    return node;
  }

 private:
  // Of a quoted word, libfyaml tells the place behind the quotation mark.
  static Place scalar_place(fy_node* from) {
    Place place = place_of(fy_token_start_mark(fy_node_get_scalar_token(from)));
    const auto style = fy_node_get_style(from);
    if (style == FYNS_SINGLE_QUOTED || style == FYNS_DOUBLE_QUOTED) --place.column;
    return place;
  }

  static void scalar(fy_node* from, Node& node) {
    std::size_t length = 0;
    const char* text = fy_node_get_scalar(from, &length);
    if (text == nullptr) return;
    node.text.assign(text, length);
    const auto style = fy_node_get_style(from);
    node.quoted = style != FYNS_PLAIN && style != FYNS_ANY;
    if (!node.text.empty() || node.quoted) node.place = scalar_place(from);
    if (!node.quoted && (node.text == "null" || node.text == "~")) node.text.clear();
  }

  void list(fy_node* from, Node& node, int depth) {
    node.kind = Node::Kind::list;
    void* cursor = nullptr;
    while (fy_node* item = fy_node_sequence_iterate(from, &cursor)) {
      node.items.push_back(convert(item, node.place, depth + 1));
    }
    if (!node.items.empty()) node.place = node.items.front().place;
  }

  void map(fy_node* from, Node& node, int depth) {
    node.kind = Node::Kind::map;
    void* cursor = nullptr;
    while (fy_node_pair* pair = fy_node_mapping_iterate(from, &cursor)) {
      Node key = convert(fy_node_pair_key(pair), node.place, depth + 1);
      if (key.kind != Node::Kind::scalar) {
        problems_.add(key.place, "a key has to be a word");
        continue;
      }
      refuse_second(node, key);
      Node value = convert(fy_node_pair_value(pair), key.place, depth + 1);
      node.entries.push_back({std::move(key), std::move(value)});
    }
    if (!node.entries.empty()) node.place = node.entries.front().key.place;
  }

  void refuse_second(const Node& map, const Node& key) {
    for (const auto& [other, value] : map.entries) {
      if (other.text != key.text) continue;
      problems_.add(key.place, "key '" + key.text + "' stands twice, first in line " +
                                   std::to_string(other.place.line));
    }
  }

  Problems& problems_;
};

// What libfyaml found wrong. Its own "document error" lines behind the first say nothing more.
void take_diagnostics(fy_diag* diag, Problems& problems) {
  void* cursor = nullptr;
  if (const fy_diag_error* found = fy_diag_errors_iterate(diag, &cursor)) {
    problems.add({std::max(found->line, 1), std::max(found->column, 1)},
                 std::string("not YAML: ") + (found->msg == nullptr ? "bad syntax" : found->msg));
  }
  if (problems.none()) problems.add({}, "not YAML");
}

// Is this byte allowed in YAML (1.2, section 5.1: "c-printable")? Characters beyond ASCII are.
bool is_printable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || byte == '\n' || byte == '\r' || (byte >= 0x20 && byte != 0x7f);
}

// The document that was read ends there: what follows would be kept by nobody, and said by nobody.
void refuse_second_document(std::string_view text, Problems& problems) {
  const auto pieces = pieces_of(text);
  if (pieces.size() < 2) return;
  const auto second = Document::parse(pieces[1], problems.file());
  problems.add(second ? second->root().place() : Place{pieces[1].first_line, 1},
               "a second document begins; the file has to be one: join them, and take out the "
               "\"---\"");
}

}  // namespace

// The first place that is no text at all. libfyaml 0.7.12 does not return from some such input (a
// directive with bytes that are no UTF-8), so it never gets to see it.
void refuse_what_is_no_text(std::string_view text, Problems& problems) {
  Place place;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return problems.add(place, "a byte that is no UTF-8");
    if (!is_printable(text[at])) return problems.add(place, "a control character");
    const bool line_ends = text[at] == '\n';
    place.line += line_ends ? 1 : 0;
    place.column = line_ends ? 1 : place.column + 1;
    at += length;
  }
}

const Node* child_of(const Node& map, std::string_view key) {
  const auto found = std::ranges::find(
      map.entries, key, [](const Entry& entry) -> std::string_view { return entry.key.text; });
  return found == map.entries.end() ? nullptr : &found->value;
}

void Problems::add(Place place, std::string message) {
  found_.push_back({place, found_.size(), std::move(message)});
}

const Problems::Found* Problems::first() const {
  return found_.empty() ? nullptr : &found_.front();
}

Error Problems::error() const {
  // std::stable_sort of libstdc++ 12 calls what newer compilers warn of; so the rank decides.
  auto sorted = found_;
  std::sort(sorted.begin(), sorted.end(), [](const Found& a, const Found& b) {
    return std::tie(a.place.line, a.place.column, a.rank) <
           std::tie(b.place.line, b.place.column, b.rank);
  });
  std::string text;
  for (const auto& found : sorted) {
    if (!text.empty()) text += '\n';
    text += file_ + ':' + std::to_string(found.place.line) + ':' +
            std::to_string(found.place.column) + ": " + found.message;
  }
  return Error(ErrorCode::invalid_input, std::move(text));
}

Result<Node> parse(std::string_view text, const std::string& file) {
  Problems problems(file);
  refuse_what_is_no_text(text, problems);
  if (!problems.none()) return fail(problems.error());
  const auto diag = collecting_diag();
  if (diag == nullptr) return fail(ErrorCode::internal, "libfyaml has no memory");
  fy_parse_cfg cfg{};
  cfg.flags = static_cast<fy_parse_cfg_flags>(FYPCF_COLLECT_DIAG | FYPCF_ALLOW_DUPLICATE_KEYS);
  cfg.diag = diag.get();
  const std::unique_ptr<fy_document, DocumentDelete> document(
      fy_document_build_from_string(&cfg, text.data(), text.size()));
  if (document == nullptr) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      problems.add({}, "the file is empty");
    } else {
      take_diagnostics(diag.get(), problems);
    }
    return fail(problems.error());
  }
  Node root = Converter(problems).convert(fy_document_root(document.get()), {}, 0);
  refuse_second_document(text, problems);
  if (!problems.none()) return fail(problems.error());
  return root;
}

Result<std::string> read_text(const std::string& path) {
  // A pipe or a device would be waited for, or never end; a folder reads as an empty file.
  std::error_code problem;
  if (std::filesystem::exists(path, problem) && !std::filesystem::is_regular_file(path, problem)) {
    return fail(ErrorCode::invalid_input, path + ":1:1: this is no file but a folder or a device");
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(Error::from_errno(errno == 0 ? EIO : errno, "read " + path));
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) return fail(ErrorCode::io, "read " + path + ": the disk or file system failed");
  std::string content = std::move(text).str();
  if (content.size() > largest_file) {
    return fail(ErrorCode::invalid_input, path + ":1:1: the file is larger than 1 MiB");
  }
  return content;
}

Result<Node> parse_file(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return fail(text.error());
  return parse(*text, path);
}

}  // namespace stoker::yaml
