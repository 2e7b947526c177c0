// Diag stage: two matrices of N(0,1) numbers on a card, and their product.
#pragma once

#include <cstdint>
#include <vector>

#include "diag/card.h"
#include "diag/kernels/matrix.h"

namespace stoker::diag {

// The kernel that this card is tested with: the fastest that clang can make for it.
Kernel matrix_kernel(const CardFacts& facts);

class Matrices {
 public:
  // Square ones of so many rows, a multiple of 256 on a real card.
  static Result<Matrices> make(Card& card, std::uint32_t rows);

  // Fills the queue with one product.
  Result<void> multiply();
  Result<void> multiply_by_library() { return card_->library_product(args()); }
  // Operations of one product.
  [[nodiscard]] double operations() const;
  // One number for the whole product as it is in memory: another one if a bit of it is another.
  Result<std::uint32_t> product_digest();
  // How many of `cells` cells, spread over the product, are not what the host makes of the same numbers in fp64.
  Result<std::uint32_t> wrong_cells(std::uint32_t cells);
  // Overwrites the product, so that what is read later has been written since.
  Result<void> spoil();

 private:
  Matrices(Card& card, std::uint32_t rows, CardMemory a, CardMemory b, CardMemory c,
           CardMemory maps)
      : card_(&card),
        rows_(rows),
        kernel_(matrix_kernel(card.facts())),
        a_(std::move(a)),
        b_(std::move(b)),
        c_(std::move(c)),
        maps_(std::move(maps)) {}
  [[nodiscard]] MatrixArgs args() const;
  [[nodiscard]] Launch launch_of_product() const;
  Result<void> fill_inputs();
  Result<void> describe_inputs();
  Result<std::vector<std::uint16_t>> row_of(const CardMemory& matrix, std::uint32_t row);

  Card* card_;
  std::uint32_t rows_;
  Kernel kernel_;
  CardMemory a_;
  CardMemory b_;
  CardMemory c_;
  CardMemory maps_;  // two TensorMaps, and a word for the digest
};

}  // namespace stoker::diag
