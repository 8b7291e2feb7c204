// A function that the dynamic symbols show and one that they hide.
extern "C" {
static __attribute__((noinline)) int hidden(int x) {
  asm volatile("");
  return x * 2;
}
__attribute__((visibility("default"))) int shown(int x) { return hidden(x) + 1; }
}
int main(int count, char**) { return shown(count); }
