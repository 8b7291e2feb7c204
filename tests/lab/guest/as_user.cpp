// lab_as_user UID COMMAND...: runs a command as a user without any capability.
#include <grp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto id = static_cast<uid_t>(std::atoi(argv[1]));
  if (id == 0 || ::setgroups(0, nullptr) != 0 || ::setgid(id) != 0 || ::setuid(id) != 0) {
    std::perror("lab_as_user");
    return 1;
  }
  ::execv(argv[2], argv + 2);
  std::perror(argv[2]);
  return 1;
}
