// What 'loft machine' refuses before it measures anything.
#include <gmock/gmock.h>

#include "cli/run_loft.hpp"

namespace loft {
namespace {

using testing::HasSubstr;

TEST(MachineCommand, RefusesMoreThreadsThanThereAreCpus) {
  const Said said = run_loft("machine --threads 65536");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("roofs of 65536 threads"));
  EXPECT_THAT(said.notes, HasSubstr("the machine has "));
  EXPECT_THAT(said.notes, HasSubstr("at most"));
}

}  // namespace
}  // namespace loft
