// Cuts off every file that it has open, and goes on.
#include <stdio.h>
#include <unistd.h>

int main(void) {
  for (int file = 3; file < 1100; ++file) (void)!ftruncate(file, 0);
  puts("done");
  return 0;
}
