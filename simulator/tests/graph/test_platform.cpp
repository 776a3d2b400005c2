// What an operator learns about the chip it is compiled for.
#include "check.h"
#include "platform/platform_infos_def.h"
#include "platform/platform_internal.h"

TEST(the_simulated_chip_is_described) {
  fe::PlatFormInfos infos;
  fe::OptionalInfos options;
  opkit_sim::platform::DescribeSimulatedChip(20U, 40U, infos, options);
  std::string text;
  CHECK(infos.GetPlatformResWithLock("version", "NpuArch", text));
  CHECK_EQ(text, std::string("2201"));
  CHECK_EQ(infos.GetCoreNum(), 20U);
  uint64_t bytes = 0U;
  infos.GetLocalMemSize(fe::LocalMemType::UB, bytes);
  CHECK_EQ(bytes, 196608U);
  infos.GetLocalMemSize(fe::LocalMemType::L0_A, bytes);
  CHECK_EQ(bytes, 0U);
  CHECK_EQ(options.GetAICoreNum(), 20U);
  CHECK_CONTAINS(options.GetSocVersion(), "Ascend910B");
}

TEST(an_unknown_key_is_not_found_and_leaves_the_value) {
  fe::PlatFormInfos infos;
  fe::OptionalInfos options;
  std::string text = "before";
  CHECK(!infos.GetPlatformRes("version", "NpuArch", text));
  opkit_sim::platform::DescribeSimulatedChip(1U, 2U, infos, options);
  CHECK(!infos.GetPlatformRes("version", "no such key", text));
  CHECK(!infos.GetPlatformRes("no such label", "NpuArch", text));
  CHECK_EQ(text, std::string("before"));
}

TEST(tables_can_be_read_and_extended) {
  fe::PlatFormInfos infos;
  CHECK(infos.Init());
  std::map<std::string, std::string> table = {{"a", "1"}, {"ai_core_cnt", "not a number"}};
  infos.SetPlatformResWithLock("SoCInfo", table);
  std::map<std::string, std::string> read;
  CHECK(infos.GetPlatformRes("SoCInfo", read));
  CHECK(read == table);
  CHECK_EQ(infos.GetCoreNum(), 0U);
}

TEST_MAIN()
