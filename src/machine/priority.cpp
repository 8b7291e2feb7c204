#include "machine/priority.hpp"

#include <sys/resource.h>

namespace loft::machine {
namespace {

// On Linux 0 stands for the calling thread, not for its process.
constexpr id_t kThisThread = 0;
constexpr int kBest = -20;

}  // namespace

Priority::Priority() : before_(::getpriority(PRIO_PROCESS, kThisThread)) {
  (void)::setpriority(PRIO_PROCESS, kThisThread, kBest);
}

Priority::~Priority() { (void)::setpriority(PRIO_PROCESS, kThisThread, before_); }

}  // namespace loft::machine
