#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "catalog/products/product.h"
#include "catalog/products/words.h"
#include "device/nvml/enums.h"

namespace stoker::catalog {
namespace {

namespace abi = nvml::abi;

const std::set<std::string> nvml_functions{
#define STOKER_NVML(result, name, ...) #name,
#include "device/nvml/functions.def"
#undef STOKER_NVML
};

TEST(Products, EveryEmbeddedFileIsRightAndSaysItsSources) {
  EXPECT_EQ(product_ids(), (std::vector<std::string>{"a100-40gb", "a100-80gb", "a30", "b200",
                                                     "gb200", "h100-80gb", "h200", "l40s", "t4"}));
  for (const auto& id : product_ids()) {
    const auto product = load_product(id);
    ASSERT_TRUE(product) << product.error().message();
    EXPECT_EQ(product->id, id);
    EXPECT_GE(product->sources.size(), 9U);
    for (const auto& source : product->sources) {
      EXPECT_GT(source.text.size(), 8U) << id << " " << source.group;
    }
  }
}

TEST(Products, OnlyNameFunctionsThatNvmlHas) {
  for (const auto& id : product_ids()) {
    const auto product = load_product(id);
    ASSERT_TRUE(product);
    for (const auto& answer : product->answers) {
      EXPECT_TRUE(nvml_functions.contains(answer.function)) << id << ": " << answer.function;
    }
  }
}

TEST(Products, WordsMeanNvmlsNumbers) {
  const auto number = [](auto value) { return static_cast<std::int64_t>(value); };
  EXPECT_EQ(number_of(brands, "nvidia"), number(abi::Brand::nvidia));
  EXPECT_EQ(number_of(architectures, "turing"), number(abi::Architecture::turing));
  EXPECT_EQ(number_of(architectures, "ampere"), number(abi::Architecture::ampere));
  EXPECT_EQ(number_of(architectures, "ada"), number(abi::Architecture::ada));
  EXPECT_EQ(number_of(architectures, "hopper"), number(abi::Architecture::hopper));
  EXPECT_EQ(number_of(architectures, "blackwell"), number(abi::Architecture::blackwell));
  EXPECT_EQ(number_of(memory_locations, "device_memory"),
            number(abi::MemoryLocation::device_memory));
  EXPECT_EQ(number_of(memory_locations, "sram"), number(abi::MemoryLocation::sram));
  EXPECT_EQ(number_of(value_types, "u32"), number(abi::ValueType::unsigned_int));
  EXPECT_EQ(number_of(value_types, "u64"), number(abi::ValueType::unsigned_long_long));
  EXPECT_EQ(number_of(value_types, "u16"), number(abi::ValueType::unsigned_short));
  EXPECT_EQ(number_of(return_codes, "not_supported"), number(abi::Return::not_supported));
  EXPECT_EQ(number_of(return_codes, "gpu_is_lost"), number(abi::Return::gpu_is_lost));
  EXPECT_EQ(number_of(return_codes, "insufficient_resources"),
            number(abi::Return::insufficient_resources));
  EXPECT_EQ(number_of(return_codes, "invalid_state"), number(abi::Return::invalid_state));
}

TEST(Products, ThoseOfUnknownThresholdsHaveNone) {
  for (const char* id : {"a30", "l40s", "b200", "gb200"}) {
    const auto product = load_product(id);
    ASSERT_TRUE(product);
    EXPECT_FALSE(product->thermal.slowdown) << id;
    EXPECT_EQ(product->power.min_mw, 0U) << id;
  }
}

TEST(Products, AFolderOfTheUserComesFirst) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("products-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ifstream in(STOKER_SOURCE_DIR "/src/catalog/products/t4.yaml");
  std::ostringstream text;
  text << in.rdbuf();
  std::string mine = text.str();
  mine.replace(mine.find("name: Tesla T4"), 14, "name: Mine   ");
  std::ofstream(folder / "t4.yaml") << mine;
  const auto product = load_product("t4", folder.string());
  const auto other = load_product("a30", folder.string());
  const auto outside = load_product("../t4", folder.string());
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(product) << product.error().message();
  EXPECT_EQ(product->name, "Mine");
  EXPECT_TRUE(other);
  EXPECT_FALSE(outside);
}

TEST(Products, AnUnknownOneListsTheNearestFirst) {
  const auto product = load_product("h100-80");
  ASSERT_FALSE(product);
  EXPECT_EQ(product.error().code(), ErrorCode::not_found);
  EXPECT_TRUE(
      product.error().message().starts_with("there is no product 'h100-80'; there are h100-80gb, "))
      << product.error().message();
}

}  // namespace
}  // namespace stoker::catalog
