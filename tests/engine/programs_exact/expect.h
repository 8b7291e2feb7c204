// expect(FUNCTION, EVENT, VALUE) says "expect FUNCTION EVENT VALUE" when the program ends. Plain
// loops instead of printf: these programs are also run step by step.
#pragma once

#include <unistd.h>

static char expect_text[8192];
static unsigned expect_size;

static void expect_word(const char* word, char end) {
  while (*word != 0) expect_text[expect_size++] = *word++;
  expect_text[expect_size++] = end;
}

static void expect(const char* function, const char* event, long value) {
  char digits[24];
  int at = sizeof digits;
  digits[--at] = 0;
  do digits[--at] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  expect_word("expect", ' ');
  expect_word(function, ' ');
  expect_word(event, ' ');
  expect_word(digits + at, '\n');
}

static int say_expectations(void) {
  return write(STDOUT_FILENO, expect_text, expect_size) == (long)expect_size ? 0 : 1;
}
