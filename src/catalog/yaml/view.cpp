#include "catalog/yaml/view.h"

#include <libfyaml.h>

#include <algorithm>

#include "catalog/yaml/collecting_diag.h"
#include "catalog/yaml/text_check.h"

namespace stoker::yaml {
namespace {

// A merge may name a map that merges again; more of them than this nobody writes.
constexpr int most_merges = 8;

bool has_kind(fy_node* node, fy_node_type type) {
  return node != nullptr && fy_node_get_type(node) == type && !fy_node_is_alias(node);
}

// Of a scalar, or an alias of one; empty for everything else.
std::string_view scalar_text(fy_node* node) {
  if (node == nullptr || fy_node_get_type(node) != FYNT_SCALAR) return {};
  if (fy_node_is_alias(node)) {
    node = fy_node_resolve_alias(node);
    if (node == nullptr || fy_node_get_type(node) != FYNT_SCALAR) return {};
  }
  std::size_t length = 0;
  const char* text = fy_node_get_scalar(node, &length);
  return text == nullptr ? std::string_view() : std::string_view(text, length);
}

// The first scalar of a list or map, at most so deep: libfyaml does not say where those begin.
fy_node* first_scalar(fy_node* node) {
  for (int depth = 0; node != nullptr && depth < 64 && !fy_node_is_alias(node); ++depth) {
    void* cursor = nullptr;
    if (fy_node_get_type(node) == FYNT_SCALAR) return node;
    if (fy_node_get_type(node) == FYNT_SEQUENCE) {
      node = fy_node_sequence_iterate(node, &cursor);
    } else {
      fy_node_pair* pair = fy_node_mapping_iterate(node, &cursor);
      node = pair == nullptr ? nullptr : fy_node_pair_key(pair);
    }
  }
  return node;
}

bool is_marker(std::string_view line, std::string_view marker) {
  if (!line.starts_with(marker)) return false;
  return line.size() == marker.size() || line[marker.size()] == ' ' ||
         line[marker.size()] == '\t' || line[marker.size()] == '\r';
}

// Has `line` anything but blanks, a comment, a directive or a document's marker?
bool says_something(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos || line[first] == '#' || line.front() == '%') return false;
  if (is_marker(line, "...")) return false;
  if (!is_marker(line, "---")) return true;
  const auto behind = line.find_first_not_of(" \t\r", 3);
  return behind != std::string_view::npos && line[behind] != '#';
}

}  // namespace

View::View(fy_node* node, int first_line) : node_(node), first_line_(first_line) {
  if (node != nullptr && fy_node_is_alias(node)) node_ = fy_node_resolve_alias(node);
}

bool View::is_map() const { return has_kind(node_, FYNT_MAPPING); }
bool View::is_list() const { return has_kind(node_, FYNT_SEQUENCE); }
bool View::is_scalar() const { return has_kind(node_, FYNT_SCALAR); }

bool View::is_null() const {
  if (node_ == nullptr) return true;
  if (!is_scalar() || is_quoted()) return false;
  const auto word = text();
  return word.empty() || word == "null" || word == "~";
}

bool View::is_quoted() const {
  if (!is_scalar()) return false;
  const auto style = fy_node_get_style(node_);
  return style != FYNS_PLAIN && style != FYNS_ANY;
}

bool View::is_block() const {
  if (!is_scalar()) return false;
  const auto style = fy_node_get_style(node_);
  return style == FYNS_LITERAL || style == FYNS_FOLDED;
}

std::string_view View::text() const { return scalar_text(node_); }

Place View::place() const {
  fy_node* scalar = first_scalar(node_);
  if (scalar == nullptr || fy_node_is_alias(scalar)) return {first_line_, 1};
  const fy_mark* mark = fy_token_start_mark(fy_node_get_scalar_token(scalar));
  if (mark == nullptr) return {first_line_, 1};
  // Of a quoted word libfyaml tells the place behind the quotation mark, of a block the place of its first line.
  const auto style = fy_node_get_style(scalar);
  const bool quoted = style == FYNS_SINGLE_QUOTED || style == FYNS_DOUBLE_QUOTED;
  return {mark->line + first_line_, mark->column + (quoted ? 0 : 1)};
}

bool View::next_item(void*& cursor, View& item) const {
  if (!is_list()) return false;
  fy_node* next = fy_node_sequence_iterate(node_, &cursor);
  if (next != nullptr) item = View(next, first_line_);
  return next != nullptr;
}

bool View::next_entry(void*& cursor, View& key, View& value) const {
  if (!is_map()) return false;
  fy_node_pair* pair = fy_node_mapping_iterate(node_, &cursor);
  if (pair == nullptr) return false;
  key = View(fy_node_pair_key(pair), first_line_);
  value = View(fy_node_pair_value(pair), first_line_);
  return true;
}

View View::find_merged(std::string_view key, int merges) const {
  if (!is_map()) return {};
  fy_node* found = nullptr;
  fy_node* merge = nullptr;
  void* cursor = nullptr;
  while (fy_node_pair* pair = fy_node_mapping_iterate(node_, &cursor)) {
    const auto name = scalar_text(fy_node_pair_key(pair));
    if (name == key) found = fy_node_pair_value(pair);
    if (name == "<<") merge = fy_node_pair_value(pair);
  }
  if (found != nullptr || merge == nullptr || merges == 0) return {found, first_line_};
  const View merged(merge, first_line_);
  if (merged.is_map()) return merged.find_merged(key, merges - 1);
  View first;
  merged.each_item([&](View item) {
    if (!first.exists() && item.is_map()) first = item.find_merged(key, 0);
  });
  return first;
}

View View::find(std::string_view key) const { return find_merged(key, most_merges); }

View View::at(std::string_view path) const {
  View found = *this;
  while (!path.empty() && found.exists()) {
    const auto dot = std::min(path.find('.'), path.size());
    found = found.find(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return found;
}

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> pieces;
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  std::size_t begin = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  int first_line = 1;
  bool something = false;
  int line_number = 1;
  const auto end_piece = [&](std::size_t end) {
    if (something) pieces.push_back({text.substr(begin, end - begin), first_line});
    begin = end;
    first_line = line_number;
    something = false;
  };
  for (std::size_t at = begin; at < text.size(); ++line_number) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = text.substr(at, end - at);
    if (is_marker(line, "---") || is_marker(line, "...")) end_piece(at);
    if (!something && !line.empty()) something = says_something(line);
    at = end + 1;
  }
  end_piece(text.size());
  return pieces;
}

struct Document::Parsed {
  Parsed() = default;
  Parsed(const Parsed&) = delete;
  Parsed& operator=(const Parsed&) = delete;
  ~Parsed() { fy_document_destroy(document); }

  std::unique_ptr<fy_diag, DiagDelete> diag = collecting_diag();  // outlives the document
  fy_document* document = nullptr;
  int first_line = 1;
};

Result<Document> Document::parse(const Piece& piece, const std::string& file) {
  Problems problems(file);
  const auto refuse = [&](Place place, std::string message) {
    // Of what does not end libfyaml tells the line behind the last.
    const auto breaks =
        std::ranges::count_if(piece.text, [](char c) { return c == '\n' || c == '\r'; });
    place.line = std::min(place.line, static_cast<int>(breaks) + 1);
    problems.add({place.line + piece.first_line - 1, place.column}, std::move(message));
    return fail(problems.error());
  };
  if (piece.text.size() > largest_document) return refuse({}, "the document is larger than 4 MiB");
  Problems text_problems(file);
  refuse_what_is_no_text(piece.text, text_problems);
  if (const auto first = text_problems.first()) return refuse(first->place, first->message);
  auto parsed = std::make_shared<Parsed>();
  parsed->first_line = piece.first_line;
  if (parsed->diag == nullptr) return fail(ErrorCode::internal, "libfyaml has no memory");
  fy_parse_cfg cfg{};
  // Its accelerators only cost time where a key is looked for once or twice. A bracket that closes at the indentation of
  // its key is against YAML 1.2 (section 7.4), and taken by every reader that these files are written for: kubectl's
  // sigs.k8s.io/yaml, PyYAML.
  cfg.flags =
      static_cast<fy_parse_cfg_flags>(FYPCF_COLLECT_DIAG | FYPCF_ALLOW_DUPLICATE_KEYS |
                                      FYPCF_DISABLE_ACCELERATORS | FYPCF_SLOPPY_FLOW_INDENTATION);
  cfg.diag = parsed->diag.get();
  parsed->document = fy_document_build_from_string(&cfg, piece.text.data(), piece.text.size());
  if (parsed->document == nullptr) {
    void* cursor = nullptr;
    const fy_diag_error* found = fy_diag_errors_iterate(parsed->diag.get(), &cursor);
    if (found == nullptr) return refuse({}, "not YAML");
    return refuse({std::max(found->line, 1), std::max(found->column, 1)},
                  std::string("not YAML: ") + (found->msg == nullptr ? "bad syntax" : found->msg));
  }
  return Document(std::move(parsed));
}

View Document::root() const { return {fy_document_root(parsed_->document), parsed_->first_line}; }

}  // namespace stoker::yaml
