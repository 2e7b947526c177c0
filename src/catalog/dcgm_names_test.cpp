#include "catalog/dcgm_names.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(DcgmNames, EveryRowOfTheFieldTableIsKnownByItsNameAndItsNewName) {
  for (const Field& row : all_fields()) {
    for (const std::string_view name : {row.dcgm_name, row.dcgm_alias}) {
      if (name.empty()) continue;
      ASSERT_TRUE(dcgm_id_of(name)) << name;
      EXPECT_EQ(*dcgm_id_of(name), row.dcgm_id) << name;
      EXPECT_EQ(field_of_dcgm(row.dcgm_id), &row) << name;
    }
  }
}

TEST(DcgmNames, FieldsThatAreNotReadHaveANumberAndNoRow) {
  ASSERT_TRUE(dcgm_id_of("DCGM_FI_DEV_NVLINK_BANDWIDTH_L0"));
  EXPECT_EQ(field_of_dcgm(*dcgm_id_of("DCGM_FI_DEV_NVLINK_BANDWIDTH_L0")), nullptr);
}

TEST(DcgmNames, TheLowerCaseNamesOfTheFirstExporterAreTheSameFields) {
  EXPECT_EQ(dcgm_id_of("dcgm_gpu_temp"), dcgm_id_of("DCGM_FI_DEV_GPU_TEMP"));
  EXPECT_FALSE(dcgm_id_of("dcgm_gpu_tmp"));
  EXPECT_FALSE(dcgm_id_of(""));
}

}  // namespace
}  // namespace stoker
