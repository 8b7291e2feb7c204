#include <loft/version.h>
#include <loft/count.hpp>

#include <iostream>

int main() {
  try {
    loft::Counters counters("task-clock:u");
    counters.start();
    counters.stop();
    if (counters.values().size() != 1) return 1;
  } catch (const loft::CountError& error) {
    std::cerr << error.what() << '\n';  // some machines let nobody count; linking is what matters
  }
  std::cout << loft_version() << '\n';
}
