#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "catalog/products/product.h"

namespace stoker::catalog {
namespace {

std::string t4() {
  std::ifstream in(STOKER_SOURCE_DIR "/src/catalog/products/t4.yaml");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// What is said of the T4's file with `from` replaced by `to`, without the line's number: files grow.
std::string said(const std::string& from, const std::string& to) {
  std::string text = t4();
  const auto at = text.find(from);
  if (at == std::string::npos) return "nothing to replace";
  text.replace(at, from.size(), to);
  const auto product = parse_product(text, "mine.yaml");
  if (product) return "taken";
  const std::string& message = product.error().message();
  return message.substr(0, 10) + message.substr(message.find(':', 10));
}

TEST(ProductReader, TakesTheFileAsItIs) { EXPECT_TRUE(parse_product(t4(), "t4.yaml")); }

TEST(ProductReader, RefusesKeysThatItDoesNotKnow) {
  EXPECT_EQ(said("  slowdown: 93", "  slowdwon: 93"),
            "mine.yaml::3: unknown key 'slowdwon' in thermal; did you mean 'slowdown'?");
}

TEST(ProductReader, RefusesNumbersOutOfRange) {
  EXPECT_EQ(said("  slowdown: 93", "  slowdown: 930"),
            "mine.yaml::13: thermal.slowdown is 930, outside its range of 1 to 150");
  EXPECT_EQ(said("  width: 16", "  width: many"),
            "mine.yaml::10: pci.width has to be a whole number from 1 to 32, not 'many'");
}

TEST(ProductReader, RefusesGroupsWithoutASource) {
  EXPECT_EQ(said("  source: telegraf's record\n  default_mw: 70000", "  default_mw: 70000"),
            "mine.yaml::3: power.source is missing");
}

TEST(ProductReader, RefusesWhatIsMissing) {
  EXPECT_EQ(said("name: Tesla T4\n", ""), "mine.yaml::1: name is missing");
  EXPECT_EQ(said("  brand: nvidia\n", ""), "mine.yaml::3: identity.brand is missing");
}

TEST(ProductReader, RefusesWordsThatMeanNothing) {
  EXPECT_EQ(said("architecture: turing", "architecture: touring"),
            "mine.yaml::17: identity.architecture has to be one of volta, turing, ampere, ada, "
            "hopper and blackwell, not 'touring'");
}

TEST(ProductReader, RefusesContradictions) {
  EXPECT_EQ(said("  slowdown: 93", "  slowdown: 99"),
            "mine.yaml::3: thermal.slowdown is above thermal.shutdown");
  EXPECT_EQ(said("  min_mw: 60000", "  min_mw: 80000"),
            "mine.yaml::3: power has to hold min_mw <= default_mw <= max_mw");
}

TEST(ProductReader, RefusesFieldRowsOfAnotherShape) {
  EXPECT_EQ(said("[1, live, u64, 1]", "[1, live]"),
            "mine.yaml::8: fields.rows[0] has to be [id, live or constant, type, value]");
  EXPECT_EQ(said("[1, live, u64, 1]", "[1, alive, u64, 1]"),
            "mine.yaml::11: fields.rows[0] has to say live or constant, not 'alive'");
  EXPECT_EQ(said("[2, live, u64, 1]", "[1, live, u64, 1]"),
            "mine.yaml::3: field id 1 stands twice");
}

TEST(ProductReader, RefusesTextsThatNvmlCannotHold) {
  EXPECT_EQ(said("image: G183.0200.00.02", "image: G183.0200.00.02.and.more"),
            "mine.yaml::20: identity.inforom.image is longer than 15 letters");
}

}  // namespace
}  // namespace stoker::catalog
