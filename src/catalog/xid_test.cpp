#include "catalog/xid.h"

#include <gtest/gtest.h>

#include <set>

#include "catalog/kernel_sign.h"
#include "catalog/sxid.h"

namespace stoker {
namespace {

using Known = XidReading::Known;

TEST(XidCatalogue, HasNoGapFromOneToTheDriversLast) {
  for (std::uint32_t number = 1; number <= 176; ++number) {
    const Xid* xid = find_xid(number);
    ASSERT_NE(xid, nullptr) << number;
    EXPECT_EQ(xid->number, number);
    EXPECT_FALSE(xid->mnemonic.empty()) << number;
    EXPECT_FALSE(xid->text.empty()) << number;
    EXPECT_FALSE(xid_source(number).empty()) << number;
    EXPECT_TRUE(xid->products.empty() || xid->products.size() == 4) << number;
    EXPECT_TRUE(xid->level.has_value() || xid->text == "Unused")
        << number << " is used and has no level";
    EXPECT_TRUE(xid->since.empty() || DriverVersion::parse(xid->since)) << number;
    for (const auto bucket : {xid->immediate, xid->then}) {
      EXPECT_TRUE(bucket.empty() || !xid_bucket_words(bucket).empty()) << number << ' ' << bucket;
    }
  }
  EXPECT_EQ(find_xid(0), nullptr);
  EXPECT_EQ(find_xid(177), nullptr);
}

TEST(XidCatalogue, SaysWhatNvidiaSays) {
  EXPECT_EQ(find_xid(79)->action, Action::reboot);
  EXPECT_EQ(find_xid(79)->level, FaultLevel::hardware);
  EXPECT_EQ(find_xid(13)->action, Action::restart_job);
  EXPECT_EQ(find_xid(31)->level, FaultLevel::application);
  EXPECT_EQ(find_xid(43)->action, Action::observe);
  EXPECT_EQ(find_xid(43)->level, FaultLevel::application);
  EXPECT_EQ(find_xid(46)->action, Action::reset_gpu);
  EXPECT_EQ(find_xid(63)->action, Action::observe)
      << "a repair that was recorded, no reason to replace a card";
  EXPECT_EQ(find_xid(64)->action, Action::reset_gpu);
  EXPECT_EQ(find_xid(74)->level, FaultLevel::link);
  EXPECT_EQ(find_xid(119)->level, FaultLevel::driver);
  EXPECT_EQ(find_xid(154)->level, FaultLevel::info);
  EXPECT_EQ(xid_name(79), "GPU has fallen off the bus");
}

TEST(XidCatalogue, ReadsAReusedNumberAsItsDriverMeantIt) {
  const auto read = [](std::uint32_t number, const char* driver) {
    return read_xid_number(number, DriverVersion::parse(driver));
  };
  const auto rotation = read(144, "550.90.07");
  EXPECT_EQ(rotation.known, Known::other_meaning);
  EXPECT_EQ(rotation.mnemonic, "ROBUST_CHANNEL_KEY_ROTATION_ERROR");
  ASSERT_NE(rotation.facts, nullptr);
  EXPECT_EQ(rotation.facts->number, 151U) << "the number that has this meaning now";
  EXPECT_EQ(read(144, "555.42.06").facts, nullptr) << "a reserved number tells nothing";
  EXPECT_EQ(read(144, "580").mnemonic, "NVLINK_SAW_ERROR");
  EXPECT_EQ(read(144, "535.183.01").known, Known::not_defined);
  EXPECT_EQ(read(139, "535.129.03").facts->number, 141U);
  EXPECT_EQ(read(137, "550.54.15").known, Known::yes) << "another name for the same";
  EXPECT_EQ(read(79, "470.57.02").known, Known::yes);
  EXPECT_EQ(read(999, "580").known, Known::no);
  EXPECT_EQ(read_xid_number(144, std::nullopt).mnemonic, "NVLINK_SAW_ERROR");
}

TEST(XidCatalogue, KeysEveryReusedNumberByDriverOldestFirst) {
  std::set<std::uint32_t> numbers;
  for (std::uint32_t number = 1; number <= 176; ++number) {
    const auto meanings = xid_meanings(number);
    if (meanings.empty()) continue;
    numbers.insert(number);
    EXPECT_GE(meanings.size(), 2U) << number;
    EXPECT_TRUE(meanings.back().same) << number;
    for (std::size_t n = 1; n < meanings.size(); ++n) {
      EXPECT_LT(DriverVersion::parse(meanings[n - 1].since),
                DriverVersion::parse(meanings[n].since))
          << number;
    }
  }
  for (const std::uint32_t number : {108, 137, 139, 144, 145, 150, 162, 166, 167, 168, 169, 170}) {
    EXPECT_TRUE(numbers.contains(number)) << number;
  }
}

TEST(XidCatalogue, SaysWhereOthersDiffer) {
  ASSERT_NE(find_xid_peers(109), nullptr);
  EXPECT_TRUE(find_xid_peers(109)->ignored_by_device_plugin);
  EXPECT_EQ(find_xid_peers(62)->dcgm, "WARN thermal");
  EXPECT_TRUE(find_xid_peers(63)->fails_azure_node);
  EXPECT_FALSE(xid_notes(62).empty());
}

TEST(XidCatalogue, TakesTheDriversWordsForARecovery) {
  EXPECT_EQ(recovery_action("GPU Reset Required"), Action::reset_gpu);
  EXPECT_EQ(recovery_action("Node Reboot Required"), Action::reboot);
  EXPECT_EQ(recovery_action("Drain P2P"), Action::drain_p2p);
  EXPECT_EQ(recovery_action("Recover IMEX Domain"), Action::recover_imex_domain);
  EXPECT_EQ(recovery_action("Something New"), Action::contact_vendor);
}

TEST(XidCatalogue, DecodesNvlink5AsItsDriverWroteIt) {
  const auto* row = read_nvlink5(145, 0x04082907, 0x8, std::nullopt);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->unit, "RLW_SRC_TRACK");
  EXPECT_EQ(row->immediate, "XID_154_EVAL");
  EXPECT_EQ(read_nvlink5(145, 0x04082907, 0x8, DriverVersion::parse("580.65.06")), row);
  EXPECT_EQ(read_nvlink5(145, 0x04082907, 0x8, DriverVersion::parse("570.124.06")), nullptr)
      << "before R575 the unit stands in other bits";
  EXPECT_EQ(read_nvlink5(145, 0x000000e2, 0x1, DriverVersion::parse("570.124.06"))->unit,
            "RLW_SRC_TRACK");
  const auto* down = read_nvlink5(149, 0x00200011, 0x1234, DriverVersion::parse("580"));
  ASSERT_NE(down, nullptr);
  EXPECT_EQ(down->then, "INVESTIGATE_LINK_SI");
  EXPECT_EQ(read_nvlink5(145, 0x04082907, 0x40000000, std::nullopt), nullptr);
}

TEST(SxidCatalogue, HasTheDriversNamesAndNvidiasClasses) {
  EXPECT_EQ(find_sxid(22003).kind, SxidClass::always_fatal);
  EXPECT_EQ(find_sxid(22003).action, Action::reboot);
  EXPECT_EQ(find_sxid(12028).kind, SxidClass::non_fatal);
  EXPECT_EQ(find_sxid(12028).action, Action::observe);
  EXPECT_EQ(find_sxid(30006).name, "NPORT_REDUCTIONTSTATE_CRUMBSTORE_RTO_ERR");
  EXPECT_EQ(find_sxid(30006).kind, SxidClass::not_documented);
  EXPECT_EQ(find_sxid(30006).action, Action::contact_vendor);
  EXPECT_EQ(find_sxid(9).number, 0U);
  int known = 0;
  for (std::uint32_t number = 10'000; number < 31'000; ++number) {
    if (find_sxid(number).number == 0) continue;
    ++known;
    EXPECT_FALSE(find_sxid(number).source.empty());
  }
  EXPECT_EQ(known, 420);
}

TEST(KernelSigns, EachHasAMeaningAndASource) {
  for (const auto sign : kernel_signs()) {
    const auto* row = find_kernel_sign(sign);
    ASSERT_NE(row, nullptr);
    EXPECT_FALSE(row->meaning.empty()) << sign;
    EXPECT_FALSE(row->source.empty()) << sign;
  }
  EXPECT_EQ(find_kernel_sign("no_such_sign"), nullptr);
}

TEST(DriverVersion, TakesABranchForItsNewest) {
  EXPECT_GT(*DriverVersion::parse("580"), *DriverVersion::parse("580.94.10"));
  EXPECT_LT(*DriverVersion::parse("580.65.06"), *DriverVersion::parse("580.94"));
  EXPECT_FALSE(DriverVersion::parse("").has_value());
  EXPECT_FALSE(DriverVersion::parse("580.x").has_value());
  EXPECT_FALSE(DriverVersion::parse("580.65.06.1").has_value());
}

}  // namespace
}  // namespace stoker
