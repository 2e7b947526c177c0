#include "catalog/yaml/view.h"

#include <gtest/gtest.h>

namespace stoker::yaml {
namespace {

Document viewed(std::string_view text) {
  auto document = Document::parse({text, 1}, "x.yaml");
  if (!document) throw std::runtime_error(document.error().message());
  return *document;
}

std::string view_refusal(std::string_view text) {
  const auto document = Document::parse({text, 1}, "x.yaml");
  return document ? "" : document.error().message();
}

TEST(View, tells_kind_text_and_place_of_what_stands_in_the_document) {
  const std::string text = "a: one\nb:\n  - 'two'\n  - c: 3\nd: |\n  lines\ne:\n";
  const Document document = viewed(text);
  const View root = document.root();
  ASSERT_TRUE(root.is_map());
  EXPECT_EQ(root.find("a").text(), "one");
  EXPECT_EQ(root.find("a").place().column, 4);
  std::vector<std::string> items;
  root.find("b").each_item([&](View item) { items.emplace_back(item.text()); });
  EXPECT_EQ(items, (std::vector<std::string>{"two", ""}));
  EXPECT_EQ(root.find("b").place().line, 3);
  EXPECT_EQ(root.find("b").place().column, 5);
  EXPECT_TRUE(root.find("d").is_block());
  EXPECT_TRUE(root.find("e").is_null());
  EXPECT_FALSE(root.find("none").exists());
}

TEST(View, goes_down_a_path_of_keys) {
  const std::string text = "a: {b: {c: 7}}\n";
  const Document document = viewed(text);
  EXPECT_EQ(document.root().at("a.b.c").text(), "7");
  EXPECT_FALSE(document.root().at("a.x.c").exists());
}

TEST(View, follows_aliases_and_merges) {
  const std::string text =
      "base: &base {x: 1, y: 2}\nuse:\n  <<: *base\n  y: 3\nsame: *base\nlost: *none\n";
  const auto document = Document::parse({text, 1}, "x.yaml");
  ASSERT_TRUE(document.has_value()) << document.error().message();
  EXPECT_EQ(document->root().at("use.x").text(), "1");
  EXPECT_EQ(document->root().at("use.y").text(), "3");
  EXPECT_EQ(document->root().at("same.y").text(), "2");
  EXPECT_FALSE(document->root().find("lost").is_map());
}

TEST(View, of_two_entries_of_a_key_has_the_last) {
  const std::string text = "a: 1\na: 2\n";
  EXPECT_EQ(viewed(text).root().find("a").text(), "2");
}

TEST(View, an_alias_bomb_takes_no_memory) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 40; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int n = 0; n < 9; ++n) text += (n > 0 ? ", *a" : "*a") + std::to_string(i - 1);
    text += "]\n";
  }
  const Document document = viewed(text);
  EXPECT_TRUE(document.root().find("a39").is_list());
}

TEST(Document, may_close_a_bracket_at_the_indentation_of_its_key) {
  const Piece piece{"a:\n  b: [\n    x\n  ]\n  c: {\n  d: [\n1]\n  }\n", 1};
  const auto document = Document::parse(piece, "f.yaml");
  ASSERT_TRUE(document) << document.error().describe();
  EXPECT_TRUE(document->root().at("a.b").is_list());
  EXPECT_TRUE(document->root().at("a.c.d").is_list());
}

TEST(Document, of_ten_thousand_levels_is_refused) {
  EXPECT_NE(view_refusal(std::string(10000, '[') + std::string(10000, ']')), "");
  EXPECT_NE(view_refusal(std::string(10000, '[')), "");
}

TEST(Document, that_is_too_large_or_no_text_is_refused_at_its_line) {
  EXPECT_EQ(view_refusal(std::string(largest_document + 1, 'a')),
            "x.yaml:1:1: the document is larger than 4 MiB");
  EXPECT_EQ(view_refusal("a: b\nc: \xff\n"), "x.yaml:2:4: a byte that is no UTF-8");
}

TEST(Document, with_an_error_says_its_line_in_the_file) {
  const auto document = Document::parse({"a: b\nc: }\n", 11}, "x.yaml");
  ASSERT_FALSE(document.has_value());
  EXPECT_TRUE(document.error().message().starts_with("x.yaml:12:")) << document.error().message();
}

TEST(Pieces, of_a_file_stand_between_markers_and_know_their_line) {
  const std::string text =
      "# head\n---\na: 1\n--- # second\n\nb: |\n  ---\n---\n# nothing\n...\n---\nc: 3";
  const auto pieces = pieces_of(text);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0].first_line, 2);
  EXPECT_EQ(pieces[1].first_line, 4);
  EXPECT_EQ(pieces[2].first_line, 11);
  EXPECT_EQ(viewed(pieces[1].text).root().find("b").text(), "---\n");
}

}  // namespace
}  // namespace stoker::yaml
