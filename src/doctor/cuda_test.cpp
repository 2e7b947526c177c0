#include "doctor/cuda.h"

#include <gtest/gtest.h>

namespace stoker::doctor {
namespace {

TEST(CudaMatrix, RunsAProgramOfTheSameFamilyOnADriverOlderThanItsToolkit) {
  // The handbooks say that the driver must be at least the toolkit's. It is enough that it is of the family.
  EXPECT_EQ(fit_of({12, 4}, "550.54.14"), CudaFit::full);
  EXPECT_EQ(fit_of({12, 4}, "535.129.03"), CudaFit::minor_compat);
  EXPECT_EQ(fit_of({12, 8}, "525.60.13"), CudaFit::minor_compat);
  EXPECT_EQ(fit_of({12, 0}, "520.61.05"), CudaFit::too_old);
  EXPECT_EQ(fit_of({13, 0}, "575.57.08"), CudaFit::too_old);
  EXPECT_EQ(fit_of({13, 1}, "580.159.04"), CudaFit::minor_compat);
  // A driver runs what every older toolkit built.
  EXPECT_EQ(fit_of({11, 8}, "580.159.04"), CudaFit::full);
}

TEST(CudaMatrix, SaysUnknownWhereTheTableEnds) {
  EXPECT_EQ(fit_of({14, 0}, "700.10.01"), CudaFit::unknown);
  EXPECT_EQ(fit_of({13, 7}, "640.10.01"), CudaFit::unknown);
  EXPECT_EQ(fit_of({13, 7}, "570.10.01"), CudaFit::too_old);
  EXPECT_EQ(fit_of({10, 2}, "580.159.04"), CudaFit::unknown);
  EXPECT_EQ(fit_of({12, 4}, "a driver"), CudaFit::unknown);
}

TEST(CudaMatrix, KnowsVersionsAsFilesSpellThem) {
  EXPECT_EQ(CudaVersion::parse("12.4.1"), (CudaVersion{12, 4}));
  EXPECT_EQ(CudaVersion::parse("13"), (CudaVersion{13, 0}));
  EXPECT_FALSE(CudaVersion::parse("cuda"));
  EXPECT_FALSE(CudaVersion::parse(""));
}

TEST(TorchWheels, HaveNoCodeForACardThatCameLater) {
  EXPECT_EQ(compute_capability("NVIDIA H100 80GB HBM3"), 90);
  EXPECT_EQ(compute_capability("NVIDIA L40S"), 89);
  EXPECT_EQ(compute_capability("NVIDIA L4"), 89);
  EXPECT_EQ(compute_capability("NVIDIA A100-SXM4-80GB"), 80);
  EXPECT_EQ(compute_capability("Tesla V100-SXM2-32GB"), 70);
  EXPECT_EQ(compute_capability("NVIDIA A4000"), std::nullopt);
  EXPECT_EQ(torch_has_code_for({12, 6}, 90), true);
  EXPECT_EQ(torch_has_code_for({12, 6}, 100), false);
  EXPECT_EQ(torch_has_code_for({12, 8}, 103), true);
  EXPECT_EQ(torch_has_code_for({12, 8}, 70), std::nullopt);
  EXPECT_EQ(torch_has_code_for({12, 3}, 90), std::nullopt);
}

TEST(ForwardCompatibility, IsForCardsOfDataCentres) {
  EXPECT_EQ(has_forward_compatibility("NVIDIA A100-SXM4-80GB"), true);
  EXPECT_EQ(has_forward_compatibility("NVIDIA GeForce RTX 4090"), false);
  EXPECT_EQ(has_forward_compatibility("NVIDIA RTX A6000"), std::nullopt);
}

}  // namespace
}  // namespace stoker::doctor
