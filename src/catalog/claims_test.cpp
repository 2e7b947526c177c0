// What handbooks on GPU operations say of metrics and Xids, and is not so. Claims about what follows from an event or
// a reading are stories of their own, under tests/scenarios/claims.
#include <gtest/gtest.h>

#include <array>

#include "catalog/explain.h"
#include "catalog/field.h"
#include "catalog/xid.h"

namespace stoker {
namespace {

struct Numbered {
  int dcgm_id;
  std::string_view field;
};

// dcgm_fields.h of NVIDIA/DCGM.
constexpr std::array<Numbered, 10> by_number = {{{150, "temperature"},
                                                 {140, "memory_temperature"},
                                                 {155, "power"},
                                                 {191, "fan_speed"},
                                                 {203, "utilization"},
                                                 {204, "memory_utilization"},
                                                 {1001, "graphics_active"},
                                                 {1002, "sm_active"},
                                                 {1003, "sm_occupancy"},
                                                 {1004, "tensor_active"}}};

// Claimed: 203, 204, 1002, 1003 and 1004 are SM use, memory use, temperature, power and fan; 1001 counts ECC errors.
TEST(HandbookClaims, ANumberOfDcgmsIsTheFieldThatDcgmMeans) {
  for (const Numbered& row : by_number) {
    const auto id = find_field(row.field);
    ASSERT_TRUE(id) << row.field;
    EXPECT_EQ(field(*id).dcgm_id, row.dcgm_id) << row.field;
  }
}

// Claimed: there is a metric dcgm_fi_dev_ecc_sbe_aggregate_total.
TEST(HandbookClaims, MemoryErrorsHaveTheNamesThatDcgmGivesThem) {
  EXPECT_EQ(field(FieldId::ecc_corrected_volatile).dcgm_name, "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL");
  EXPECT_EQ(field(FieldId::ecc_uncorrected_volatile).dcgm_name, "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL");
  EXPECT_EQ(field(FieldId::ecc_corrected_aggregate).dcgm_name, "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL");
  EXPECT_EQ(field(FieldId::ecc_uncorrected_aggregate).dcgm_name, "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL");
}

// Claimed: DCGM_FI_DEV_XID_ERRORS counts Xids, so that "!= 0 for 1m" is an alert. It is the number of the last one.
TEST(HandbookClaims, TheLastXidIsNoCounter) {
  const Field& last = field(FieldId::last_xid);
  EXPECT_EQ(last.dcgm_name, "DCGM_FI_DEV_XID_ERRORS");
  EXPECT_EQ(last.kind, FieldKind::state);
  EXPECT_NE(last.help.find("last"), std::string_view::npos) << last.help;
}

// Claimed: GPU_UTIL is the use of the SMs, and 80 % of it the aim.
TEST(HandbookClaims, UtilizationIsNoUseOfSms) {
  EXPECT_EQ(field(FieldId::utilization).dcgm_name, "DCGM_FI_DEV_GPU_UTIL");
  EXPECT_EQ(field(FieldId::utilization).help.find("SM"), std::string_view::npos);
  EXPECT_EQ(field(FieldId::sm_active).dcgm_name, "DCGM_FI_PROF_SM_ACTIVE");
}

struct Meaning {
  std::uint32_t xid;
  std::string_view mnemonic;
  std::string_view immediate;
};

// What the handbooks say of each stands in the scenario of its number. NVIDIA's Xid catalogue.
constexpr std::array<Meaning, 12> claimed_xids = {
    {{8, "ROBUST_CHANNEL_FIFO_ERROR_IDLE_TIMEOUT", "RESTART_APP"},
     {13, "ROBUST_CHANNEL_GR_EXCEPTION", "RESTART_APP"},
     {31, "ROBUST_CHANNEL_FIFO_ERROR_MMU_ERR_FLT", "RESTART_APP"},
     {38, "", "IGNORE"},
     {43, "", "IGNORE"},
     {46, "", "RESET_GPU"},
     {63, "", "IGNORE"},
     {64, "", "RESET_GPU"},
     {79, "", "RESTART_BM"},
     {92, "EXCESSIVE_SBE_INTERRUPTS", "IGNORE"},
     {94, "", "RESTART_APP"},
     {95, "", "RESET_GPU"}}};

TEST(HandbookClaims, AnXidMeansAndAsksForWhatNvidiaSays) {
  for (const Meaning& row : claimed_xids) {
    const Xid* xid = find_xid(row.xid);
    ASSERT_NE(xid, nullptr) << row.xid;
    EXPECT_TRUE(row.mnemonic.empty() || xid->mnemonic == row.mnemonic) << xid->mnemonic;
    EXPECT_EQ(xid->immediate, row.immediate) << row.xid;
    EXPECT_NE(xid->action, Action::replace) << row.xid;
  }
}

// Claimed: only a replacement helps with an Xid 48; and a GPU that reports it has computed wrongly for a week.
TEST(HandbookClaims, NoXidAsksForANewCardByItself) {
  for (std::uint32_t number = 1; number <= 176; ++number) {
    EXPECT_NE(find_xid(number)->action, Action::replace) << number;
  }
}

}  // namespace
}  // namespace stoker
