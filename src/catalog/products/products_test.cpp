#include <gtest/gtest.h>

#include "catalog/products/product.h"

namespace stoker::catalog {
namespace {

TEST(Products, EveryEmbeddedFileIsRightAndSaysItsSources) {
  ASSERT_FALSE(product_ids().empty());
  for (const auto& id : product_ids()) {
    const auto product = load_product(id);
    ASSERT_TRUE(product) << product.error().message();
    EXPECT_EQ(product->id, id);
    EXPECT_FALSE(product->name.empty());
    for (const auto& source : product->sources) {
      EXPECT_GT(source.text.size(), 8U) << id << " " << source.group;
    }
  }
}

}  // namespace
}  // namespace stoker::catalog
