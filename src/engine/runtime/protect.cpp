#include "engine/runtime/protect.hpp"

#include <sys/mman.h>

#include "engine/runtime/kernel.hpp"
#include "engine/runtime/regions.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/trace.hpp"

namespace loft::engine::runtime {
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
  bool is_checked;
  std::uint8_t faults;     // how often it was written while it was protected, up to kPatience
  bool watches_aliases;    // of shared code: where else it can be written is protected
  bool is_executable;      // of an alias
  std::uint64_t alias_of;  // the page of code that is written here, or 0
  bool is_listed;          // among g_protected, where it stays until all are given back
  Page* next;
};

Page* g_pages = nullptr;
std::uint64_t g_used = 0;
Use* g_spare = nullptr;

Page* slot_of(std::uint64_t address) {
  if (g_pages == nullptr) g_pages = static_cast<Page*>(reserve(kMaxPages * sizeof(Page)));
  // Neighbours stay neighbours, so that the code of a small program fills few pages here.
  constexpr std::uint64_t kNeighbours = 64;
  const std::uint64_t number = address / kPage;
  const std::uint64_t group = number / kNeighbours * 0x9E3779B97F4A7C15ull >> 32;
  std::uint64_t at = (group * kNeighbours + number % kNeighbours) & (kMaxPages - 1);
  while (g_pages[at].address != 0 && g_pages[at].address != address)
    at = (at + 1) & (kMaxPages - 1);
  return &g_pages[at];
}

// The page that holds the address, or null when nothing was made of it.
Page* find_page(std::uint64_t address) {
  Page* page = slot_of(address & ~(kPage - 1));
  return page->address != 0 ? page : nullptr;
}

Page& add_page(std::uint64_t address) {
  Page* page = slot_of(address);
  if (page->address == 0) {
    page->address = address;
    if (++g_used == kMaxPages / 2)
      stop(Message("the program has more code than the engine can watch"));
  }
  return *page;
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

bool g_has_aliases = false;
Page* g_protected = nullptr;

void protect(Page& page, int protection) {
  kernel(SYS_mprotect, page.address, kPage, static_cast<std::uint64_t>(protection));
  page.is_protected = true;
  if (page.is_listed) return;
  page.is_listed = true;
  page.next = g_protected;
  g_protected = &page;
}

void watch_aliases(const Region& region, Page& code) {
  Alias aliases[kMaxAliases];
  const std::uint64_t address = code.address;
  const std::uint32_t count = find_aliases(region, address, aliases);
  code.watches_aliases = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    Page& page = add_page(aliases[i].address);
    page.alias_of = address;
    page.is_executable = aliases[i].executable;
    protect(page, PROT_READ | (page.is_executable ? PROT_EXEC : 0));
    g_has_aliases = true;
  }
}

// What is written there is other code from now on.
void forget_written(Page& alias) {
  alias.is_protected = false;
  forget_uses(alias);  // it may be code itself
  Page* code = find_page(alias.alias_of);
  if (code == nullptr) return;
  forget_uses(*code);
  code->watches_aliases = false;
}

bool unprotect_alias(Page& alias) {
  if (!alias.is_protected) return is_writable(alias.address);  // another thread was quicker
  forget_written(alias);
  kernel(SYS_mprotect, alias.address, kPage,
         PROT_READ | PROT_WRITE | (alias.is_executable ? PROT_EXEC : 0));
  return true;
}

}  // namespace

bool has_aliases() { return g_has_aliases; }

bool is_protected(std::uint64_t address) {
  const Page* page = find_page(address);
  return page != nullptr && page->is_protected;
}

void note_pages(Trace& trace) {
  for (std::uint64_t address = trace.pc & ~(kPage - 1); address < trace.pc_end; address += kPage) {
    Page& page = add_page(address);
    add_use(page, trace);
    const Region* region = known_region(address < trace.pc ? trace.pc : address);
    if (region != nullptr && region->shared && !page.watches_aliases) watch_aliases(*region, page);
    if (region == nullptr || !region->writable || page.is_protected || page.is_checked) continue;
    protect(page, PROT_READ | PROT_EXEC);
  }
}

void forget_traces(std::uint64_t start, std::uint64_t end) {
  const std::uint64_t first = start & ~(kPage - 1);
  if ((end - first) / kPage > kMaxPages) {  // quicker to look at all there are
    for (std::uint64_t i = 0; i < kMaxPages && g_pages != nullptr; ++i)
      if (g_pages[i].address >= first && g_pages[i].address < end) forget_uses(g_pages[i]);
    return;
  }
  for (std::uint64_t address = first; address < end; address += kPage)
    if (Page* page = find_page(address)) forget_uses(*page);
}

bool unprotect_code(std::uint64_t address, std::uint64_t pc) {
  Page* page = find_page(address);
  if (page == nullptr) return false;
  if (page->alias_of != 0) return unprotect_alias(*page);
  if (!page->is_protected) {
    // Another thread may have been quicker: then the page is writable, and trying again is right.
    const Region* region = find_region(address);
    return region != nullptr && region->writable;
  }
  // Code that writes to its own page would fault for ever: it is protected as soon as it is made
  // again.
  constexpr std::uint8_t kPatience = 64;
  const bool is_own = (pc & ~(kPage - 1)) == page->address;
  page->faults = static_cast<std::uint8_t>(page->faults + (is_own ? kPatience / 2 : 1));
  if (page->faults >= kPatience) page->is_checked = true;
  forget_uses(*page);
  page->is_protected = false;
  kernel(SYS_mprotect, page->address, kPage, PROT_READ | PROT_WRITE | PROT_EXEC);
  return true;
}

bool is_checked(std::uint64_t start, std::uint64_t end) {
  for (std::uint64_t address = start & ~(kPage - 1); address < end; address += kPage)
    if (const Page* page = find_page(address); page != nullptr && page->is_checked) return true;
  return false;
}

bool unprotect_all() {
  bool any = false;
  while (Page* page = g_protected) {
    g_protected = page->next;
    page->is_listed = false;
    if (page->is_protected) any = unprotect_code(page->address, 0) || any;
  }
  return any;
}

void forget_protection(std::uint64_t start, std::uint64_t end) {
  for (std::uint64_t address = start & ~(kPage - 1);
       address < end && address - start < kMaxPages * kPage; address += kPage)
    if (Page* page = find_page(address)) {
      page->is_protected = false;
      page->is_checked = false;
      page->faults = 0;
      if (page->alias_of != 0) forget_written(*page);
      page->alias_of = 0;
    }
}

}  // namespace loft::engine::runtime
