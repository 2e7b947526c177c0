#include "cluster/kubernetes/api/documents.h"

#include <gtest/gtest.h>

namespace stoker::kubernetes {
namespace {

TEST(Documents, AnObjectOfAListTakesKindAndVersionFromIt) {
  const auto page =
      read_page(R"({"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]})");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->objects.front(), R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})");
}

TEST(Documents, AListThatDoesNotSayItsVersionIsRefused) {
  const auto page = read_page(R"({"kind":"PodList","items":[{"kind":"Pod"}]})");
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().message(), "the list does not say its apiVersion");
}

}  // namespace
}  // namespace stoker::kubernetes
