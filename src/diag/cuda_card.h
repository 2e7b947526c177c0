// Diag stage: cards through the CUDA driver. Only the worker process has them (DESIGN: a context pins its card).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diag/card.h"
#include "diag/cuda_driver.h"

namespace stoker::diag {

struct UnopenedCard {
  std::string uuid;  // empty: not even that could be asked
  std::string why;   // "0000:9a:00.0: …"
};

struct CudaCards {
  std::shared_ptr<const CudaDriver> driver;
  Cards cards;
  std::vector<UnopenedCard> unopened;  // are there, and could not be opened
};

// Opens the cards that are `wanted`, which are one at least. Each gets its primary context, which is let go of when the
// Card ends. invalid_input: none is wanted.
Result<CudaCards> open_cuda_cards(const std::vector<CardName>& wanted,
                                  const std::string& library = "");

}  // namespace stoker::diag
