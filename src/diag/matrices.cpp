#include "diag/matrices.h"

#include <cmath>

#include "diag/kernels/matrix90.h"
#include "diag/kernels/memory.h"
#include "diag/kernels/mma_product.h"
#include "diag/run_shape.h"

namespace stoker::diag {
namespace {

constexpr std::uint64_t digest_offset = 2 * sizeof(TensorMap);

}  // namespace

Kernel matrix_kernel(const CardFacts& facts) {
  if (runs_on(Module::matrix90, facts.compute_capability)) return Kernel::matrix90;
  return runs_on(Module::matrix80, facts.compute_capability) ? Kernel::matrix80 : Kernel::matrix75;
}

Result<Matrices> Matrices::make(Card& card, std::uint32_t rows) {
  const std::uint64_t bytes = std::uint64_t{rows} * rows * sizeof(std::uint16_t);
  std::vector<CardMemory> taken;
  for (const std::uint64_t size : {bytes, bytes, bytes, digest_offset + sizeof(std::uint32_t)}) {
    auto memory = CardMemory::take(card, size);
    if (!memory) return fail(memory.error());
    taken.push_back(std::move(*memory));
  }
  Matrices out(card, rows, std::move(taken[0]), std::move(taken[1]), std::move(taken[2]),
               std::move(taken[3]));
  if (auto ok = out.fill_inputs(); !ok) return fail(ok.error());
  if (out.kernel_ == Kernel::matrix90) {
    if (auto ok = out.describe_inputs(); !ok) return fail(ok.error());
  }
  return out;
}

Result<void> Matrices::fill_inputs() {
  const std::uint64_t count = std::uint64_t{rows_} * rows_;
  const std::uint32_t half = kernel_ == Kernel::matrix75 ? 1 : 0;
  std::uint32_t seed = 1;
  for (const CardMemory* matrix : {&a_, &b_}) {
    const NormalArgs args{matrix->as<std::uint16_t>(), count, seed++, half};
    const Launch how =
        streaming(card_->facts(), Kernel::normal, static_cast<double>(matrix->bytes()));
    if (auto ok = card_->launch(how, args); !ok) return ok;
  }
  return card_->wait();
}

Result<void> Matrices::describe_inputs() {
  auto host = HostMemory::take(*card_, 2 * sizeof(TensorMap));
  if (!host) return fail(host.error());
  const auto a = card_->tensor_map(a_.address(), {rows_, rows_, matrix90_rows, matrix90_depth});
  if (!a) return fail(a.error());
  const auto b =
      card_->tensor_map(b_.address(), {rows_, rows_, matrix90_columns / 2, matrix90_depth});
  if (!b) return fail(b.error());
  host->as<TensorMap>()[0] = *a;
  host->as<TensorMap>()[1] = *b;
  if (auto ok =
          card_->to_card(maps_.address(), host->as<void>(), 2 * sizeof(TensorMap), Queue::first);
      !ok)
    return ok;
  return card_->wait();
}

MatrixArgs Matrices::args() const {
  return {a_.as<std::uint16_t>(),
          b_.as<std::uint16_t>(),
          c_.as<std::uint16_t>(),
          rows_,
          rows_,
          rows_,
          kernel_ == Kernel::matrix75 ? 1U : 0U,
          maps_.as<void>()};
}

double Matrices::operations() const { return 2.0 * std::pow(static_cast<double>(rows_), 3); }

Launch Matrices::launch_of_product() const {
  const CardFacts& facts = card_->facts();
  Launch how{.kernel = kernel_, .work = {.operations = operations(), .unit = Work::Unit::tensor}};
  if (facts.simulated) {
    how.blocks = facts.multiprocessors;
    how.threads = 8;
  } else if (kernel_ == Kernel::matrix90) {
    how.blocks = facts.multiprocessors / 2 * 2;
    how.threads = matrix90_threads;
    how.shared_bytes = matrix90_shared_bytes;
    how.cluster = 2;
  } else {
    how.blocks = rows_ / product_rows * (rows_ / product_columns);
    how.threads = product_threads;
    how.shared_bytes = (kernel_ == Kernel::matrix80 ? 4 : 2) * product_stage_bytes;
  }
  return how;
}

Result<void> Matrices::multiply() { return card_->launch(launch_of_product(), args()); }

Result<void> Matrices::spoil() {
  const FillArgs args{c_.as<Words>(), c_.bytes() / sizeof(Words), 0,
                      static_cast<std::uint32_t>(Pattern::constant),
                      0x7fc07fc0};  // NaN in bf16; in fp16 too
  return card_->launch(streaming(card_->facts(), Kernel::fill, static_cast<double>(c_.bytes())),
                       args);
}

Result<std::uint32_t> Matrices::product_digest() {
  auto host = HostMemory::take(*card_, sizeof(std::uint32_t));
  if (!host) return fail(host.error());
  const Address at = maps_.address() + digest_offset;
  const DigestArgs args{c_.as<Words>(), c_.bytes() / sizeof(Words),
                        maps_.as<std::uint32_t>(digest_offset)};
  const Launch how = streaming(card_->facts(), Kernel::digest, static_cast<double>(c_.bytes()));
  if (auto ok = card_->zero(at, sizeof(std::uint32_t)); !ok) return fail(ok.error());
  if (auto ok = card_->launch(how, args); !ok) return fail(ok.error());
  if (auto ok = card_->from_card(host->as<void>(), at, sizeof(std::uint32_t), Queue::first); !ok) {
    return fail(ok.error());
  }
  if (auto ok = card_->wait(); !ok) return fail(ok.error());
  return *host->as<std::uint32_t>();
}

Result<std::vector<std::uint16_t>> Matrices::row_of(const CardMemory& matrix, std::uint32_t row) {
  const std::uint64_t bytes = std::uint64_t{rows_} * sizeof(std::uint16_t);
  auto host = HostMemory::take(*card_, bytes);
  if (!host) return fail(host.error());
  if (auto ok =
          card_->from_card(host->as<void>(), matrix.address() + row * bytes, bytes, Queue::first);
      !ok) {
    return fail(ok.error());
  }
  if (auto ok = card_->wait(); !ok) return fail(ok.error());
  const auto* numbers = host->as<std::uint16_t>();
  return std::vector<std::uint16_t>(numbers, numbers + rows_);
}

// One cell in each of `cells` rows. What the card rounds: each of k sums to fp32 (2^-24 of the running sum, which is some
// root of k), and the result to 8 bits of significand (11 for fp16). A sum may be near 0 by cancellation.
Result<std::uint32_t> Matrices::wrong_cells(std::uint32_t cells) {
  const bool half = kernel_ == Kernel::matrix75;
  const double rounding = half ? 0x1p-11 : 0x1p-8;
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < cells; ++i) {
    const auto row = static_cast<std::uint32_t>(std::uint64_t{i} * rows_ / cells);
    const std::uint32_t column = mixed(i + 77) % rows_;
    const auto a = row_of(a_, row);
    if (!a) return fail(a.error());
    const auto b = row_of(b_, column);
    if (!b) return fail(b.error());
    const auto c = row_of(c_, row);
    if (!c) return fail(c.error());
    double expected = 0;
    double size = 0;
    for (std::uint32_t k = 0; k < rows_; ++k) {
      const double product = static_cast<double>(number_of((*a)[k], half)) *
                             static_cast<double>(number_of((*b)[k], half));
      expected += product;
      size += std::abs(product);
    }
    const auto found = static_cast<double>(number_of((*c)[column], half));
    const double allowed = rounding * std::abs(expected) + size * 0x1p-20;
    if (!(std::abs(found - expected) <= allowed)) ++wrong;  // a NaN is wrong too
  }
  return wrong;
}

}  // namespace stoker::diag
