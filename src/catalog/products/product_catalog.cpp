// Finds products: a user's folder first, then what is embedded.
#include <filesystem>

#include "base/closest.h"
#include "catalog/products/product.h"
#include "catalog/yaml/yaml.h"
#include "embedded/products.h"

namespace stoker::catalog {
namespace {

// Product names become file names: letters, digits, '-', '_' and '.', and no path.
bool is_plain_name(const std::string& id) {
  return !id.empty() && id.front() != '.' &&
         id.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
             std::string::npos;
}

Result<Product> named(Result<Product> product, const std::string& id) {
  if (product) product->id = id;
  return product;
}

}  // namespace

std::vector<std::string> product_ids() {
  std::vector<std::string> ids;
  for (const auto& file : embedded::products) ids.emplace_back(file.id);
  return ids;
}

Result<Product> load_product(const std::string& id, const std::string& folder) {
  if (!folder.empty() && is_plain_name(id)) {
    const std::string path = folder + "/" + id + ".yaml";
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) {
      const auto text = yaml::read_text(path);
      if (!text) return fail(text.error());
      return named(parse_product(*text, path), id);
    }
  }
  for (const auto& file : embedded::products) {
    if (file.id == id) return named(parse_product(file.text(), id + ".yaml (built in)"), id);
  }
  return fail(ErrorCode::not_found, "there is no product '" + id + "'; there are " +
                                        listed(closest_first(id, product_ids())));
}

}  // namespace stoker::catalog
