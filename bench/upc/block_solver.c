// A block tri-diagonal solver in the manner of the NAS benchmark BT: lines of 5 x 5 blocks,
// eliminated forwards and substituted backwards. All lines together are 8 MB.
#include <stdio.h>
#include <stdlib.h>

enum { kCells = 64, kBlock = 5, kLines = 200 };

typedef double Block[kBlock][kBlock];
typedef double Vector[kBlock];

static Block all_below[kLines][kCells], all_on[kLines][kCells], all_above[kLines][kCells];
static Vector all_right[kLines][kCells];

static void fill(unsigned line, Block* below, Block* on, Block* above, Vector* right) {
  for (int cell = 0; cell < kCells; ++cell)
    for (int i = 0; i < kBlock; ++i) {
      right[cell][i] = 1.0 + (cell + i + (int)line) % 7;
      for (int j = 0; j < kBlock; ++j) {
        below[cell][i][j] = 0.01 * (i + j + 1);
        above[cell][i][j] = 0.02 * (i - j);
        on[cell][i][j] = i == j ? 10.0 + cell % 3 : 0.1 * (i + 1);
      }
    }
}

// on^-1 is applied to the next block and to the right side, without pivots: the blocks are
// dominant.
static void solve_block(Block pivot, Block next, Vector side) {
  for (int p = 0; p < kBlock; ++p) {
    const double inverse = 1.0 / pivot[p][p];
    for (int j = p + 1; j < kBlock; ++j) pivot[p][j] *= inverse;
    for (int j = 0; j < kBlock; ++j) next[p][j] *= inverse;
    side[p] *= inverse;
    for (int i = 0; i < kBlock; ++i) {
      if (i == p) continue;
      const double factor = pivot[i][p];
      for (int j = p + 1; j < kBlock; ++j) pivot[i][j] -= factor * pivot[p][j];
      for (int j = 0; j < kBlock; ++j) next[i][j] -= factor * next[p][j];
      side[i] -= factor * side[p];
    }
  }
}

static void eliminate(Block factor, Block above_before, Vector right_before, Block pivot,
                      Vector side) {
  for (int i = 0; i < kBlock; ++i)
    for (int k = 0; k < kBlock; ++k) {
      side[i] -= factor[i][k] * right_before[k];
      for (int j = 0; j < kBlock; ++j) pivot[i][j] -= factor[i][k] * above_before[k][j];
    }
}

int main(void) {
  double sum = 0;
  for (unsigned line = 0; line < kLines; ++line)
    fill(line, all_below[line], all_on[line], all_above[line], all_right[line]);
  for (unsigned line = 0; line < kLines; ++line) {
    Block *below = all_below[line], *on = all_on[line], *above = all_above[line];
    Vector* right = all_right[line];
    solve_block(on[0], above[0], right[0]);
    for (int cell = 1; cell < kCells; ++cell) {
      eliminate(below[cell], above[cell - 1], right[cell - 1], on[cell], right[cell]);
      solve_block(on[cell], above[cell], right[cell]);
    }
    for (int cell = kCells - 2; cell >= 0; --cell)
      for (int i = 0; i < kBlock; ++i)
        for (int j = 0; j < kBlock; ++j) right[cell][i] -= above[cell][i][j] * right[cell + 1][j];
    for (int i = 0; i < kBlock; ++i) sum += right[0][i];
  }
  printf("%.6f\n", sum);
  return sum == sum ? EXIT_SUCCESS : EXIT_FAILURE;
}
