#include "metric/formula.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metric/program.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The value of an infix formula without names, or nothing.
std::optional<Number> value_of(const std::string& formula) {
  Library library;
  library.add(read_loft("test", "metric x = " + formula + "\n"), Tier::command);
  const auto program = compile(library, "x");
  if (!program) {
    ADD_FAILURE() << formula << ": " << to_string(program.error());
    return std::nullopt;
  }
  return program->evaluate(CountSet()).number;
}

std::string digits_of(const std::string& formula) {
  const auto value = value_of(formula);
  return value ? to_string(*value) : "n/a";
}

TEST(Formula, SubtractionAndDivisionAssociateToTheLeft) {
  EXPECT_EQ(digits_of("100-30-20"), "50");
  EXPECT_EQ(digits_of("1000/10/5"), "20");
  EXPECT_EQ(digits_of("2^3^2"), "64");
  EXPECT_EQ(digits_of("100 % 7 % 2"), "0");
}

TEST(Formula, NumbersAreReal) {
  EXPECT_EQ(digits_of("64 * 2.5"), "160");
  EXPECT_EQ(digits_of("1 / 4"), "0.25");
  EXPECT_EQ(digits_of("3000000000"), "3000000000");
}

TEST(Formula, IntegersStayExactBeyondDouble) {
  EXPECT_EQ(digits_of("18446744073709551615 - 18446744073709551614"), "1");
  EXPECT_EQ(digits_of("18446744073709551615 * 3"), "55340232221128654845");
  EXPECT_EQ(digits_of("18446744073709551615 % 10"), "5");
  EXPECT_EQ(digits_of("18446744073709551614 / 2"), "9223372036854775807");
  EXPECT_EQ(digits_of("18446744073709551615 == 18446744073709551614"), "0");
  EXPECT_EQ(digits_of("2^100 - 2^100 + 1"), "1");
}

TEST(Formula, OperationsWithoutResultAreNotAvailable) {
  for (const char* formula : {"1/0", "0/0", "5 % 0", "0^-1", "1e308 * 10", "1/(1/0)", "min(1, 1/0)",
                              "if(1/0, 1, 2)", "-(1/0)", "(-8)^0.5", "1e308 + 1e308", "0 * (1/0)"})
    EXPECT_EQ(digits_of(formula), "n/a") << formula;
}

TEST(Formula, PrecedenceIsThatOfArithmetic) {
  EXPECT_EQ(digits_of("2 + 3 * 4"), "14");
  EXPECT_EQ(digits_of("(2 + 3) * 4"), "20");
  EXPECT_EQ(digits_of("-2^2"), "-4");
  EXPECT_EQ(digits_of("2^-1"), "0.5");
  EXPECT_EQ(digits_of("2 - -3"), "5");
  EXPECT_EQ(digits_of("1 + 1 < 3"), "1");
}

TEST(Formula, FunctionsAndConditions) {
  EXPECT_EQ(digits_of("min(3, 1, 2)"), "1");
  EXPECT_EQ(digits_of("max(3, 1, 2)"), "3");
  EXPECT_EQ(digits_of("if(2 > 1, 10, 20)"), "10");
  EXPECT_EQ(digits_of("if(2 > 1, 10, 1/0)"), "10") << "only the chosen side counts";
  EXPECT_EQ(digits_of("10 if 1 > 2 else 20"), "20");
  EXPECT_EQ(digits_of("1 if 0 else 2 if 0 else 3"), "3");
  EXPECT_EQ(digits_of("1 + (2 if 1 else 3) * 2"), "5");
  EXPECT_EQ(digits_of("bitand(12, 10) + bitor(12, 10) + bitxor(12, 10)"), "28");
}

TEST(Formula, InfixErrorsNameTheirColumn) {
  const struct {
    const char* text;
    const char* why;
  } cases[] = {
      {"a +", "column 4"},      {"a b", "column 3"},     {"(a", "column 1: this parenthesis"},
      {"a)", "column 2"},       {"min(a)", "column 1"},  {"foo(a)", "'foo' is not a function"},
      {"a + * b", "column 5"},  {"", "column 1"},        {"1.2.3", "is not a number"},
      {"a if b", "no 'else'"},  {"a else b", "no 'if'"}, {"'abc", "never closed"},
      {"4 [parsec]", "parsec"}, {"a, b", "comma"},       {"1e999", "is not a number"}};
  for (const auto& [text, why] : cases) {
    const auto formula = parse_infix(text);
    ASSERT_FALSE(formula) << text;
    EXPECT_THAT(formula.error().why, HasSubstr(why)) << text;
  }
}

TEST(Formula, BothOperatorSpellingsOfThePaperMeanTheSame) {
  const auto tight = parse_rpn("PAPI_BR_INS|BR_lat*|PAPI_BR_MSP|BR_miss_lat*|+|PAPI_TOT_INS|/");
  const auto loose = parse_rpn("PAPI_BR_INS|BR_lat|*|PAPI_BR_MSP|BR_miss_lat|*|+|PAPI_TOT_INS|/");
  ASSERT_TRUE(tight && loose);
  EXPECT_EQ(to_infix(*tight), "(PAPI_BR_INS * BR_lat + PAPI_BR_MSP * BR_miss_lat) / PAPI_TOT_INS");
  EXPECT_EQ(to_infix(*tight), to_infix(*loose));
  EXPECT_EQ(to_rpn(*tight), to_rpn(*loose));
}

TEST(Formula, RpnRefusesMissingAndLeftOverOperands) {
  EXPECT_THAT(parse_rpn("a|+").error().why, HasSubstr("takes 2 operands and only 1 stands"));
  EXPECT_THAT(parse_rpn("a|b").error().why, HasSubstr("left over"));
  EXPECT_THAT(parse_rpn("a||b|+").error().why, HasSubstr("nothing stands between"));
  EXPECT_THAT(parse_rpn("a b|c|+").error().why, HasSubstr("not one name"));
  EXPECT_FALSE(parse_rpn(""));
  EXPECT_FALSE(parse_rpn("+"));
}

TEST(Formula, RpnTellsSignedNumbersFromOperators) {
  const auto formula = parse_rpn("a|-3|*|1e-5|+");
  ASSERT_TRUE(formula);
  EXPECT_EQ(formula->numbers.size(), 2u);
  EXPECT_THAT(formula->names, ElementsAre("a"));
}

TEST(Formula, ABarAtTheEndOnlyCloses) { EXPECT_TRUE(parse_rpn("a|b|+|")); }

TEST(Formula, InfixTextReadsBackAsTheSameFormula) {
  for (const char* text :
       {"a - (b - c)", "a - b - c", "(a + b) * c", "-(a + b) ^ 2", "a / (b * c)", "min(a, b + c)",
        "if(a > b, a - b, -a)", "'L1-dcache-loads' / 'cpu/event=0x3c/'", "64 [B] * lines / time",
        "a ^ (b ^ c)", "bitand(a, b)", "2 * -3", "(a < b) + (a == c)", "a % (b / c)", "-a ^ b"}) {
    const auto once = parse_infix(text);
    ASSERT_TRUE(once) << text;
    const auto again = parse_infix(to_infix(*once));
    ASSERT_TRUE(again) << to_infix(*once);
    EXPECT_EQ(to_rpn(*once), to_rpn(*again)) << text << " became " << to_infix(*once);
  }
}

TEST(Formula, RpnTextReadsBackAsTheSameFormula) {
  const auto formula = parse_infix("if(a > b, max(a, 2), -b % 3) ^ 2 != bitor(a, b)");
  ASSERT_TRUE(formula);
  const auto again = parse_rpn(to_rpn(*formula));
  ASSERT_TRUE(again) << again.error().why;
  EXPECT_EQ(to_rpn(*again), to_rpn(*formula));
}

// Found by mutation: "-4" is one operand in RPN and was an operation on 4 in infix.
TEST(Formula, ANegativeNumberIsOneNumberInEveryForm) {
  for (const char* text : {"-4", "a|-4|*", "-4|2|^", "a|-0.5|-"}) {
    const auto once = parse_rpn(text);
    ASSERT_TRUE(once) << text;
    const auto again = parse_infix(to_infix(*once));
    ASSERT_TRUE(again) << to_infix(*once);
    EXPECT_EQ(to_rpn(*again), text) << to_infix(*once);
  }
  EXPECT_EQ(to_rpn(*parse_infix("-4 ^ 2")), to_rpn(*parse_infix("-(4 ^ 2)")));
}

TEST(Formula, PerfDialectReadsEscapesAndBits) {
  const auto formula = parse_infix("cpu@event\\=0x3c\\,umask\\=0x1@ | 1 ^ 2", Dialect::perf);
  ASSERT_TRUE(formula);
  EXPECT_THAT(formula->names, ElementsAre("cpu/event=0x3c,umask=0x1/"));
  EXPECT_EQ(to_rpn(*formula), "cpu/event=0x3c,umask=0x1/|1|2|bitxor|bitor");
}

TEST(Formula, AMillionOperandsAreRefused) {
  std::string infix = "a";
  std::string rpn = "a";
  for (int i = 0; i < 1'000'000; ++i) {
    infix += "+a";
    rpn += "|a|+";
  }
  EXPECT_THAT(parse_infix(infix).error().why, HasSubstr("more than"));
  EXPECT_THAT(parse_rpn(rpn).error().why, HasSubstr("more than"));
}

TEST(Formula, DeepNestingNeedsNoStack) {
  const std::string deep(9000, '(');
  const auto formula = parse_infix(deep + "a" + std::string(9000, ')'));
  ASSERT_TRUE(formula);
  EXPECT_EQ(to_infix(*formula), "a");
  EXPECT_FALSE(parse_infix(std::string(1'000'000, '(')));
  EXPECT_FALSE(parse_infix(std::string(1'000'000, '-') + "a"));
  std::string calls;
  for (int i = 0; i < 3000; ++i) calls += "min(a, ";
  EXPECT_TRUE(parse_infix(calls + "a" + std::string(3000, ')')));
}

}  // namespace
}  // namespace loft::metric
