// MIG geometry of every product: as captured where there is a capture, and everywhere as closed as on
// real cards.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "catalog/products/product.h"

namespace stoker::catalog {
namespace {

MigGeometry geometry(const std::string& id) {
  const auto product = load_product(id);
  EXPECT_TRUE(product) << product.error().message();
  return product && product->mig ? *product->mig : MigGeometry{};
}

struct Captured {
  std::string name;
  unsigned instances = 0, multiprocessors = 0, decoders = 0, encoders = 0;
  unsigned copy_engines = 0, jpeg_engines = 0, ofa_engines = 0, size = 0;
  double gib = 0;
  std::vector<std::uint32_t> starts;
};

// tests/fixtures/captures/MACHINE/mig.txt: nvidia-smi mig -lgip and -lgipp, by profile id.
std::map<unsigned, Captured> captured(const std::string& machine) {
  const std::regex first(
      R"(\|\s+0  MIG (\S+)\s+(\d+)\s+(\d+)/\d+\s+([\d.]+)\s+No\s+(\d+)\s+(\d+)\s+(\d+)\s+\|)");
  const std::regex second(R"(\|\s+(\d+)\s+(\d+)\s+(\d+)\s+\|)");
  const std::regex places(R"(GPU  0 Profile ID\s+(\d+) Placements?\s*: \{([\d,]+)\}:(\d+))");
  std::map<unsigned, Captured> all;
  Captured* last = nullptr;
  std::ifstream in(std::string(STOKER_SOURCE_DIR) + "/tests/fixtures/captures/" + machine +
                   "/mig.txt");
  const auto whole = [](const std::string& text) {
    return static_cast<unsigned>(std::stoul(text));
  };
  for (std::string line; std::getline(in, line);) {
    std::smatch found;
    if (std::regex_match(line, found, first)) {
      last = &all[whole(found[2])];
      last->name = found[1];
      last->instances = whole(found[3]);
      last->gib = std::stod(found[4]);
      last->multiprocessors = whole(found[5]);
      last->decoders = whole(found[6]);
      last->encoders = whole(found[7]);
    } else if (last != nullptr && std::regex_match(line, found, second)) {
      last->copy_engines = whole(found[1]);
      last->jpeg_engines = whole(found[2]);
      last->ofa_engines = whole(found[3]);
    } else if (std::regex_match(line, found, places)) {
      Captured& profile = all[whole(found[1])];
      profile.size = whole(found[3]);
      std::istringstream list(found[2]);
      for (std::string start; std::getline(list, start, ',');)
        profile.starts.push_back(whole(start));
    }
  }
  return all;
}

void compare(const std::string& product, const std::string& machine) {
  const auto expected = captured(machine);
  const auto found = geometry(product);
  ASSERT_EQ(expected.size(), 7U);
  ASSERT_EQ(found.profiles.size(), expected.size());
  for (const auto& profile : found.profiles) {
    ASSERT_TRUE(expected.contains(profile.id)) << profile.name;
    const Captured& real = expected.at(profile.id);
    EXPECT_EQ(profile.name, real.name);
    EXPECT_EQ(profile.instances, real.instances) << profile.name;
    EXPECT_EQ(profile.multiprocessors, real.multiprocessors) << profile.name;
    EXPECT_EQ(profile.decoders, real.decoders) << profile.name;
    EXPECT_EQ(profile.encoders, real.encoders) << profile.name;
    EXPECT_EQ(profile.copy_engines, real.copy_engines) << profile.name;
    EXPECT_EQ(profile.jpeg_engines, real.jpeg_engines) << profile.name;
    EXPECT_EQ(profile.ofa_engines, real.ofa_engines) << profile.name;
    EXPECT_EQ(profile.size, real.size) << profile.name;
    EXPECT_EQ(profile.starts, real.starts) << profile.name;
    EXPECT_NEAR(static_cast<double>(profile.memory_mib) / 1024, real.gib, 0.006) << profile.name;
  }
}

TEST(MigGeometry, OfH100IsAsCaptured) { compare("h100-80gb", "h100x1"); }
TEST(MigGeometry, OfH200IsAsCaptured) { compare("h200", "h200x4"); }

TEST(MigGeometry, IsLegalEverywhere) {
  for (const auto& id : product_ids()) {
    const auto found = geometry(id);
    std::set<unsigned> ids;
    std::set<unsigned> numbers;
    for (const auto& profile : found.profiles) {
      EXPECT_TRUE(ids.insert(profile.id).second) << id << " " << profile.name;
      EXPECT_TRUE(numbers.insert(profile.number).second) << id << " " << profile.name;
      EXPECT_TRUE(std::is_sorted(profile.starts.begin(), profile.starts.end())) << profile.name;
      std::uint32_t end = 0;
      for (const auto start : profile.starts) {
        EXPECT_GE(start, end) << id << " " << profile.name << ": placements overlap";
        end = start + profile.size;
      }
      EXPECT_LE(end, found.memory_slices) << id << " " << profile.name;
      EXPECT_LE(profile.instances, profile.starts.size()) << id << " " << profile.name;
      // "+me" stands once a card; every other profile as often as it fits.
      if (profile.name.find('+') == std::string::npos) {
        EXPECT_EQ(profile.instances, profile.starts.size()) << id << " " << profile.name;
      } else {
        EXPECT_EQ(profile.instances, 1U) << id << " " << profile.name;
      }
      EXPECT_LE(profile.slices * profile.instances, found.compute_slices) << id;
    }
  }
}

TEST(MigGeometry, HasAProfileForTheWholeCard) {
  for (const char* id : {"a100-40gb", "a100-80gb", "a30", "b200", "gb200", "h100-80gb", "h200"}) {
    const auto found = geometry(id);
    ASSERT_FALSE(found.profiles.empty()) << id;
    const auto& whole = found.profiles.back();
    EXPECT_EQ(whole.id, 0U) << id;
    EXPECT_EQ(whole.size, found.memory_slices) << id;
    EXPECT_EQ(whole.slices, found.compute_slices) << id;
  }
  for (const char* id : {"l40s", "t4"}) EXPECT_TRUE(geometry(id).profiles.empty()) << id;
}

using Multiset = std::map<std::string, unsigned>;

class Sets {
 public:
  Sets(const MigGeometry& mig, const std::set<std::string>& without)
      : mig_(mig), without_(without) {}

  std::size_t count() {
    grow(0, {});
    return sets_.size();
  }

 private:
  // `taken`: bits of the memory slices in use by the instances in `made`.
  void grow(std::uint32_t taken, const Multiset& made) {
    if (!seen_.emplace(taken, made).second) return;
    sets_.insert(made);
    for (const auto& profile : mig_.profiles) {
      if (without_.contains(profile.name)) continue;
      const auto count = made.find(profile.name);
      if (count != made.end() && count->second == profile.instances) continue;
      for (const auto start : profile.starts) {
        const std::uint32_t slices = ((1U << profile.size) - 1U) << start;
        if ((taken & slices) != 0) continue;
        Multiset more = made;
        ++more[profile.name];
        grow(taken | slices, more);
      }
    }
  }

  const MigGeometry& mig_;
  const std::set<std::string>& without_;
  std::set<std::pair<std::uint32_t, Multiset>> seen_;
  std::set<Multiset> sets_;
};

std::size_t legal_sets(const std::string& id, const std::set<std::string>& without) {
  const auto mig = geometry(id);
  return Sets(mig, without).count();
}

// Known numbers of legal sets on a card with 7 slices, the empty one too: 38 without the profile of
// twice the memory, 78 with it (and without "+me").
TEST(MigGeometry, AllowsAsManySetsAsRealCards) {
  EXPECT_EQ(legal_sets("a100-40gb", {"1g.5gb+me", "1g.10gb"}), 38U);
  EXPECT_EQ(legal_sets("a100-40gb", {"1g.5gb+me"}), 78U);
  EXPECT_EQ(legal_sets("h100-80gb", {"1g.10gb+me"}), 78U);
  EXPECT_EQ(legal_sets("h200", {"1g.18gb+me"}), 78U);
}

}  // namespace
}  // namespace stoker::catalog
