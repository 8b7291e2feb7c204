#include "model/verdict_advice.hpp"

#include <fmt/format.h>

#include <string_view>

namespace loft::model {
namespace {

using core::Cause;

// What is the case, and what takes it away.
std::string_view remedy_of(Cause cause) {
  switch (cause) {
    case Cause::dram_latency:
    case Cause::l3_latency:
    case Cause::l2_latency:
      return "data that lie closer together, loads that do not need each other's results, or "
             "prefetching ahead take the wait away";
    case Cause::l1_latency:
      return "loads that do not need each other's results take the wait away";
    case Cause::dram_bandwidth:
    case Cause::l3_bandwidth:
    case Cause::l2_bandwidth:
      return "fewer bytes help: smaller types, or blocks that stay in a nearer cache";
    case Cause::l1_bandwidth:
    case Cause::memory_ports:
      return "fewer loads and stores help: keep values in registers, or load wider";
    case Cause::tlb:
      return "larger pages (madvise with MADV_HUGEPAGE), or data on fewer pages help";
    case Cause::fp_latency:
      return "several independent sums instead of one break the chain (compilers may do it with "
             "-fassociative-math)";
    case Cause::int_latency:
      return "independent operations side by side instead of one after the other break the chain";
    case Cause::store_forwarding:
      return "values that stay in registers instead of going through memory break the chain";
    case Cause::fp_ports:
      return "wider vectors, or fewer operations, help";
    case Cause::divider:
      return "fewer divisions and square roots help: multiply by a reciprocal that is computed "
             "once";
    case Cause::int_ports:
    case Cause::width:
      return "fewer instructions help: vectors, or less work per step";
    case Cause::mispredictions:
      return "branches that can be predicted, or none (conditional moves, sorted data), help";
    case Cause::front_end:
      return "less code in the hot path helps: less unrolling and inlining, its layout by a "
             "profile, "
             "or short loops that begin with a cache line (-falign-loops=64)";
    case Cause::sharing:
      return "data of each thread on cache lines of their own help";
    case Cause::atomics:
      return "fewer atomic operations help: sums per thread, added up at the end";
    case Cause::count_:
      break;
  }
  return "";
}

}  // namespace

std::string advise(const std::string& name, const Why& why) {
  std::string text;
  if (why.outcome == Outcome::limited) {
    text = fmt::format("{}: {}; {}", name, words_of(why), remedy_of(*why.limit));
  } else if (why.outcome == Outcome::system) {
    text = fmt::format("{}: {}; fewer system calls and page faults help", name, words_of(why));
  } else if (why.outcome == Outcome::waiting) {
    text = fmt::format("{}: {}; 'loft record' and 'loft report --tasks' show which threads wait",
                       name, words_of(why));
  } else {
    return text;
  }
  if (why.gain && *why.gain >= kLeastGain)
    text += fmt::format(", by the model at most {:.1f} × faster", *why.gain);
  return text + ".";
}

}  // namespace loft::model
