#include "nccl/tree.h"

#include <gtest/gtest.h>

namespace stoker::nccl {
namespace {

using namespace std::string_literals;

// pickle.dumps(..., protocol=N) of CPython 3.11 made these.
TEST(Pickle, ReadsDataOfEveryProtocol) {
  // {'a': [1, -2, 300, 70000, 2**40], 'b': (True, False, None), 'c': 'text', 'd': 1.5}
  const auto four =
      "\x80\x04\x95\x3d\0\0\0\0\0\0\0}\x94(\x8c\x01"
      "a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\0\x8a\x06\0\0\0\0\0\x01"
      "e\x8c\x01"
      "b\x94\x88\x89N\x87\x94\x8c\x01"
      "c\x94\x8c\x04text\x94\x8c\x01"
      "d\x94G?\xf8\0\0\0\0\0\0u."s;
  const auto tree = read_pickle(four);
  ASSERT_TRUE(tree) << tree.error().message();
  const Item root(*tree, tree->root);
  EXPECT_EQ(root["a"].size(), 5U);
  EXPECT_EQ(root["a"][std::size_t{1}].integer(), -2);
  EXPECT_EQ(root["a"][std::size_t{3}].integer(), 70000);
  EXPECT_EQ(root["a"][std::size_t{4}].integer(), std::int64_t{1} << 40);
  EXPECT_TRUE(root["b"][std::size_t{0}].truth());
  EXPECT_FALSE(root["b"][std::size_t{1}].truth());
  EXPECT_EQ(root["c"].text(), "text");
  EXPECT_EQ(root["d"].kind(), Tree::Kind::real);
  const auto zero = read_pickle("(dVk\nI7\ns."s);  // protocol 0: {'k': 7}
  ASSERT_TRUE(zero) << zero.error().message();
  EXPECT_EQ(Item(*zero, zero->root)["k"].integer(), 7);
}

TEST(Pickle, RefusesByNameWhatWouldRunCode) {
  const auto global = read_pickle(
      "\x80\x02"
      "cos\nsystem\n(S'echo'\ntR."s);
  ASSERT_FALSE(global);
  EXPECT_EQ(global.error().code(), ErrorCode::not_supported);
  EXPECT_NE(global.error().message().find("GLOBAL"), std::string::npos);
  for (const auto& [bytes, name] : std::vector<std::pair<std::string, std::string>>{
           {"\x80\x04\x8c\x02os\x8c\x06system\x93.", "STACK_GLOBAL"},
           {"NNR.", "REDUCE"},
           {"NNb.", "BUILD"},
           {"N\x81.", "NEWOBJ"},
           {"Px\n.", "PERSID"}}) {
    const auto read = read_pickle(bytes);
    ASSERT_FALSE(read) << name;
    EXPECT_NE(read.error().message().find(name), std::string::npos) << read.error().message();
  }
}

TEST(Pickle, NamesWhereItIsDamaged) {
  for (const auto& bytes : {""s, "\x80"s, "\x80\x02}"s, "\x80\x02K"s, "e."s, "h\x05."s,
                            "\x80\x02X\xff\xff\xff\x7f"
                            "a."s,
                            "0."s, "."s}) {
    const auto read = read_pickle(bytes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
  }
}

TEST(Pickle, ThatHoldsItselfIsReadOnce) {
  const auto tree = read_pickle("]q\0h\0a."s);  // a = []; a.append(a)
  ASSERT_TRUE(tree) << tree.error().message();
  EXPECT_EQ(Item(*tree, tree->root)[std::size_t{0}].size(), 1U);
}

TEST(Json, IsReadToItsDepthAndNoDeeper) {
  const auto tree = read_json(R"({"a":[1,2.5,"x",null,true],"b":{"c":-7}})");
  ASSERT_TRUE(tree);
  const Item root(*tree, tree->root);
  EXPECT_EQ(root["a"].size(), 5U);
  EXPECT_EQ(root["b"]["c"].integer(), -7);
  EXPECT_FALSE(root["nothing"]["more"]);
  EXPECT_FALSE(read_json(std::string(1000, '[')));
  EXPECT_FALSE(read_json("{\"a\":"));
}

}  // namespace
}  // namespace stoker::nccl
