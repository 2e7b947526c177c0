#include "catalog/yaml/yaml.h"

#include <gtest/gtest.h>

#include "catalog/yaml/map_reader.h"

namespace stoker::yaml {
namespace {

std::string refusal(const std::string& text) {
  const auto parsed = parse(text, "f.yaml");
  return parsed ? "taken" : parsed.error().message();
}

TEST(Yaml, ValuesKnowWhereTheyStand) {
  const auto root = parse("a: 1\nb:\n  - x\n  - c: 'two'\n", "f.yaml");
  ASSERT_TRUE(root) << root.error().describe();
  ASSERT_EQ(root->entries.size(), 2U);
  const Node& list = root->entries[1].value;
  ASSERT_EQ(list.items.size(), 2U);
  EXPECT_EQ(list.items[0].place.line, 3);
  EXPECT_EQ(list.items[0].place.column, 5);
  const Node& two = list.items[1].entries[0].value;
  EXPECT_EQ(two.text, "two");
  EXPECT_TRUE(two.quoted);
  EXPECT_EQ(two.place.line, 4);
  EXPECT_EQ(two.place.column, 8);
}

TEST(Yaml, AKeyThatStandsTwiceIsRefusedWithBothPlaces) {
  EXPECT_EQ(refusal("a: 1\nb: 2\na: 3\n"), "f.yaml:3:1: key 'a' stands twice, first in line 1");
}

TEST(Yaml, BadSyntaxHasAPlace) {
  EXPECT_EQ(refusal("a: [1, 2\nb: 3\n"),
            "f.yaml:3:1: not YAML: flow sequence without a closing bracket");
  EXPECT_TRUE(refusal("a: 'x\n").starts_with("f.yaml:"));
  EXPECT_EQ(refusal(""), "f.yaml:1:1: the file is empty");
  EXPECT_EQ(refusal("\n \n"), "f.yaml:1:1: the file is empty");
}

TEST(Yaml, AliasesAndDeepNestingAreRefused) {
  EXPECT_NE(refusal("a: &x 1\nb: *x\n").find("aliases"), std::string::npos);
  EXPECT_NE(refusal(std::string(40, '[') + std::string(40, ']')).find("32"), std::string::npos);
}

// libfyaml 0.7.12 never came back from the first of these; a fuzzer found it.
TEST(Yaml, WhatIsNoTextIsRefusedBeforeItIsParsed) {
  EXPECT_EQ(parse("a: 1\n%\xe7\x8f\r\x90: b\n", "f").error().message(),
            "f:2:2: a byte that is no UTF-8");
  EXPECT_EQ(parse(std::string_view("a: \0", 4), "f").error().message(),
            "f:1:4: a control character");
  EXPECT_TRUE(parse("a: 25 °C\r\n", "f"));
}

TEST(Yaml, AMissingFileIsNotFound) {
  const auto parsed = parse_file("/nonexistent/machine.yaml");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code(), ErrorCode::not_found);
}

TEST(YamlTest, ASecondDocumentIsRefusedWhereItBegins) {
  const auto problem = [](const char* text) {
    const auto read = parse(text, "f.yaml");
    return read ? std::string() : read.error().message();
  };
  constexpr const char* says =
      ": a second document begins; the file has to be one: join them, and take out the \"---\"";
  EXPECT_EQ(problem("---\na: 1\n---\nb: 2\n"), std::string("f.yaml:4:1") + says);
  EXPECT_EQ(problem("a: 1\n...\n---\nb: 2\n"), std::string("f.yaml:4:1") + says);
  EXPECT_NE(problem("a: 1\n---\nb: [\n"), "");
  EXPECT_EQ(problem("---\na: 1\n"), "");
  EXPECT_EQ(problem("a: 1\n...\n"), "");
  EXPECT_EQ(problem("a: 1\n---\n"), "") << "nothing follows";
}

class MapReaderTest : public testing::Test {
 protected:
  // Reads `text` as a map with the keys that the tests know, and answers what was wrong.
  std::string read(const std::string& text) {
    const auto root = parse(text, "f.yaml");
    if (!root) return root.error().message();
    Problems problems("f.yaml");
    MapReader map(*root, "", problems);
    map.number("watts", watts_, 0, 2000, Need::required);
    map.text("name", name_);
    map.flag("on", on_);
    map.word("kind", {"fast", "slow"}, kind_);
    map.numbers("starts", starts_, 0, 7);
    map.finish();
    return problems.none() ? "" : problems.error().message();
  }
  int watts_ = -1;
  std::string name_;
  bool on_ = false;
  std::size_t kind_ = 99;
  std::vector<unsigned> starts_;
};

TEST_F(MapReaderTest, TakesWhatIsRight) {
  EXPECT_EQ(read("watts: 1_000\nname: x\non: true\nkind: slow\nstarts: [0, 0x4]\n"), "");
  EXPECT_EQ(watts_, 1000);
  EXPECT_EQ(name_, "x");
  EXPECT_TRUE(on_);
  EXPECT_EQ(kind_, 1U);
  EXPECT_EQ(starts_, (std::vector<unsigned>{0, 4}));
}

TEST_F(MapReaderTest, SaysWhatWouldBeRight) {
  EXPECT_EQ(read("watts: lots\n"),
            "f.yaml:1:8: watts has to be a whole number from 0 to 2000, not 'lots'");
  EXPECT_EQ(read("watts: 9000\n"), "f.yaml:1:8: watts is 9000, outside its range of 0 to 2000");
  EXPECT_EQ(read("watts: '5'\n"),
            "f.yaml:1:8: watts has to be a whole number from 0 to 2000, not '5'");
  EXPECT_EQ(read("watts: 5\non: yes\n"), "f.yaml:2:5: on has to be true or false, not 'yes'");
  EXPECT_EQ(read("watts: 5\nkind: medium\n"),
            "f.yaml:2:7: kind has to be one of fast and slow, not 'medium'");
  EXPECT_EQ(read("watts: 5\nname: [a]\n"), "f.yaml:2:8: name has to be a word, not a list");
  EXPECT_EQ(read("watts: 5\nstarts: [1, 8]\n"),
            "f.yaml:2:13: starts[1] is 8, outside its range of 0 to 7");
  EXPECT_EQ(read("- 1\n"), "f.yaml:1:3: the file has to be a map (key: value), not a list");
}

TEST_F(MapReaderTest, ListsEveryMistakeInTheOrderOfTheFile) {
  EXPECT_EQ(read("nmae: x\non: 7\n"),
            "f.yaml:1:1: watts is missing\n"
            "f.yaml:1:1: unknown key 'nmae' in the file; did you mean 'name'?\n"
            "f.yaml:2:5: on has to be true or false, not '7'");
  EXPECT_EQ(read("watts: 1\nzzzzzzz: 1\n"),
            "f.yaml:2:1: unknown key 'zzzzzzz' in the file; known are watts, name, on, kind and "
            "starts");
}

}  // namespace
}  // namespace stoker::yaml
