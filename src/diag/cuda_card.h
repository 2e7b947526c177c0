// Diag stage: cards through the CUDA driver. Only the worker process has them (DESIGN: a context pins its card).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diag/card.h"
#include "diag/cuda_driver.h"

namespace stoker::diag {

struct CudaCards {
  std::shared_ptr<const CudaDriver> driver;
  Cards cards;
  // Of a card that is there and could not be opened: "0000:9a:00.0: …".
  std::vector<std::string> unopened;
};

// Opens the cards that are `wanted`; all, as the driver counts them, if it is empty. Each gets its primary context, which
// is let go of when the Card ends.
Result<CudaCards> open_cuda_cards(const std::vector<CardName>& wanted,
                                  const std::string& library = "");

}  // namespace stoker::diag
