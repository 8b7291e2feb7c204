// Places a kernel under roofs with the installed library, and measures a program:
//   roofs MACHINE_FILE [PROGRAM]
#include <loft/roof.hpp>

#include <cstdio>

namespace roofline = loft::roofline;

int main(int argc, char** argv) {
  std::string why;
  const auto machine = roofline::Machine::load(argv[1], why);
  if (!machine) return std::printf("%s\n", why.c_str()), 1;
  const roofline::Point point =
      machine->place({.name = "triad", .flops = 2e9, .bytes = 24e9, .seconds = 1.5});
  if (!point.limit) return std::printf("the kernel has no roof\n"), 1;
  std::printf("%.0f %% of %s\n", point.limit->share * 100, point.limit->name.c_str());
  if (argc < 3) return 0;
  const auto run = roofline::measure({argv[2]}, why, {.machine_file = argv[1]});
  if (!run) return std::printf("%s\n", why.c_str()), 1;
  return run->points.empty() ? 1 : run->exit_status;
}
