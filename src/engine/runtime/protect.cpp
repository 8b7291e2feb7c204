#include "engine/runtime/protect.hpp"

#include <sys/mman.h>

#include "engine/runtime/kernel.hpp"
#include "engine/runtime/regions.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/trace.hpp"

namespace loft::engine {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMaxPages = 1u << 20;  // a power of two

struct Use {
  Trace* trace;
  Use* next;
};

// A page of writable code and the traces made of it. Open addressing by the page's number.
struct Page {
  std::uint64_t address;
  Use* uses;
  bool is_protected;
};

Page* g_pages = nullptr;
std::uint64_t g_used = 0;
Use* g_spare = nullptr;

Page& page_at(std::uint64_t address) {
  if (g_pages == nullptr) g_pages = static_cast<Page*>(reserve(kMaxPages * sizeof(Page)));
  std::uint64_t at = (address / kPage * 0x9E3779B97F4A7C15ull >> 32) & (kMaxPages - 1);
  while (g_pages[at].address != 0 && g_pages[at].address != address) at = (at + 1) & (kMaxPages - 1);
  if (g_pages[at].address == 0) {
    g_pages[at].address = address;
    if (++g_used == kMaxPages - 1) stop(Message("the program has more writable code than the engine can guard"));
  }
  return g_pages[at];
}

void add_use(Page& page, Trace& trace) {
  Use* use = g_spare;
  if (use != nullptr) {
    g_spare = use->next;
  } else {
    use = static_cast<Use*>(allocate(sizeof(Use)));
  }
  *use = {&trace, page.uses};
  page.uses = use;
}

void forget_uses(Page& page) {
  while (Use* use = page.uses) {
    page.uses = use->next;
    forget_trace(*use->trace);
    use->next = g_spare;
    g_spare = use;
  }
}

}  // namespace

void protect_code(Trace& trace) {
  for (std::uint64_t address = trace.pc & ~(kPage - 1); address < trace.pc_end; address += kPage) {
    Page& page = page_at(address);
    add_use(page, trace);
    if (page.is_protected) continue;
    page.is_protected = true;
    kernel(SYS_mprotect, address, kPage, PROT_READ | PROT_EXEC);
  }
}

bool unprotect_code(std::uint64_t address) {
  // Another thread may have been quicker: then the page is writable already, and trying again is right.
  const Region* region = known_region(address);
  if (region == nullptr || !region->writable) return false;
  Page& page = page_at(address & ~(kPage - 1));
  forget_uses(page);
  page.is_protected = false;
  kernel(SYS_mprotect, page.address, kPage, PROT_READ | PROT_WRITE | PROT_EXEC);
  return true;
}

void forget_protection(std::uint64_t start, std::uint64_t end) {
  if (g_used == 0) return;
  for (std::uint64_t address = start & ~(kPage - 1); address < end && address - start < (1u << 30); address += kPage) {
    std::uint64_t at = (address / kPage * 0x9E3779B97F4A7C15ull >> 32) & (kMaxPages - 1);
    while (g_pages[at].address != 0 && g_pages[at].address != address) at = (at + 1) & (kMaxPages - 1);
    if (g_pages[at].address != 0) g_pages[at].is_protected = false;
  }
}

}  // namespace loft::engine
