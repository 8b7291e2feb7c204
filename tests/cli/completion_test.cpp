#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/run_loft.hpp"

namespace loft {
namespace {

using testing::HasSubstr;

TEST(CompletionCommand, KnowsEveryCommandAndItsFlags) {
  const Said bash = run_loft("completion bash");
  EXPECT_EQ(bash.status, 0);
  EXPECT_THAT(bash.out, HasSubstr("stat)"));
  EXPECT_THAT(bash.out, HasSubstr("--per-thread"));
  EXPECT_THAT(run_loft("completion zsh").out, HasSubstr("#compdef loft"));
  EXPECT_THAT(run_loft("completion fish").out, HasSubstr("-l per-thread"));
}

TEST(CompletionCommand, CompletesInARealShell) {
  const Said said = run_loft(
      "completion bash > /tmp/loft-completion-test && bash -c 'source /tmp/loft-completion-test; "
      "COMP_WORDS=(loft stat --per); COMP_CWORD=2; _loft; echo ${COMPREPLY[@]}'");
  EXPECT_THAT(said.out, HasSubstr("--per-thread --per-core"));
}

TEST(CompletionCommand, RefusesAnUnknownShell) {
  EXPECT_EQ(run_loft("completion tcsh").status, 125);
}

}  // namespace
}  // namespace loft
