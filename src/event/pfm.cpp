#include "event/pfm.hpp"

#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "event/grammar.hpp"

namespace loft::event {

// The functions of libpfm4 that loft calls, looked up by name.
struct Pfm::Calls {
  decltype(&::pfm_initialize) initialize = nullptr;
  decltype(&::pfm_terminate) terminate = nullptr;
  decltype(&::pfm_strerror) strerror = nullptr;
  decltype(&::pfm_get_pmu_info) get_pmu_info = nullptr;
  decltype(&::pfm_get_event_next) get_event_next = nullptr;
  decltype(&::pfm_get_event_info) get_event_info = nullptr;
  decltype(&::pfm_get_event_attr_info) get_event_attr_info = nullptr;
  decltype(&::pfm_get_os_event_encoding) get_os_event_encoding = nullptr;
};

namespace {

constexpr const char* kLibrary = "libpfm.so.4";
constexpr const char* kEncodeAbsent = "LIBPFM_ENCODE_INACTIVE";

template <class Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }

// Names that people use for a CPU, where libpfm4's own do not contain them.
struct FriendlyName {
  std::string_view friendly;
  std::string_view pmu;
};
constexpr FriendlyName kFriendly[] = {
    {"zen", "amd64_fam17h_zen1"},
    {"zen1", "amd64_fam17h_zen1"},
    {"zen2", "amd64_fam17h_zen2"},
    {"zen3", "amd64_fam19h_zen3"},
    {"zen4", "amd64_fam19h_zen4"},
    {"zen5", "amd64_fam1ah_zen5"},
    {"nehalem", "nhm"},
    {"westmere", "wsm"},
    {"sandybridge", "snb"},
    {"ivybridge", "ivb"},
    {"haswell", "hsw"},
    {"broadwell", "bdw"},
    {"skylake", "skl"},
    {"skylakex", "skx"},
    {"skylake-server", "skx"},
    {"cascadelake", "clx"},
    {"icelake", "icl"},
    {"icelakex", "icx"},
    {"icelake-server", "icx"},
    {"sapphirerapids", "spr"},
    {"emeraldrapids", "emr"},
    {"alderlake", "adl_glc"},
    {"neoverse-n1", "arm_n1"},
    {"neoverse-n2", "arm_n2"},
    {"neoverse-v1", "arm_v1"},
    {"neoverse-v2", "arm_v2"},
    {"cortex-a72", "arm_ac72"},
    {"cortex-a57", "arm_ac57"},
    {"cortex-a53", "arm_ac53"},
};

}  // namespace

Pfm::Pfm() : calls_(std::make_unique<Calls>()) {}

Pfm::~Pfm() = default;

Result<Pfm*> Pfm::instance() {
  static Pfm pfm;
  static const Result<void> loaded = pfm.load();
  if (!loaded) return tl::make_unexpected(loaded.error());
  return &pfm;
}

Result<void> Pfm::load() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // stays until the process ends
  if (library == nullptr)
    return failure(ErrorKind::unsupported, "use libpfm4's event names",
                   std::string(kLibrary) + " is not installed", "install the package libpfm4");
  const bool complete =
      look_up(library, "pfm_initialize", calls_->initialize) &&
      look_up(library, "pfm_terminate", calls_->terminate) &&
      look_up(library, "pfm_strerror", calls_->strerror) &&
      look_up(library, "pfm_get_pmu_info", calls_->get_pmu_info) &&
      look_up(library, "pfm_get_event_next", calls_->get_event_next) &&
      look_up(library, "pfm_get_event_info", calls_->get_event_info) &&
      look_up(library, "pfm_get_event_attr_info", calls_->get_event_attr_info) &&
      look_up(library, "pfm_get_os_event_encoding", calls_->get_os_event_encoding);
  if (!complete)
    return failure(ErrorKind::unsupported, "use libpfm4's event names",
                   std::string(kLibrary) + " lacks a function that loft needs");
  LOFT_CHECK(initialise(false));
  collect_pmus();
  return {};
}

Result<void> Pfm::initialise(bool with_absent) {
  if (with_absent) {
    ::setenv(kEncodeAbsent, "1", 1);
  } else {
    ::unsetenv(kEncodeAbsent);
  }
  const int status = calls_->initialize();
  ::unsetenv(kEncodeAbsent);  // programs that loft starts must not inherit it
  if (status != PFM_SUCCESS)
    return failure(ErrorKind::unsupported, "start libpfm4", text_of(calls_->strerror(status)));
  with_absent_ = with_absent;
  return {};
}

void Pfm::collect_pmus() {
  for (int id = PFM_PMU_NONE + 1; id < PFM_PMU_MAX; ++id) {
    pfm_pmu_info_t info{};
    info.size = sizeof info;
    if (calls_->get_pmu_info(static_cast<pfm_pmu_t>(id), &info) != PFM_SUCCESS) continue;
    pmus_.push_back({id, text_of(info.name), text_of(info.desc), info.is_present != 0,
                     info.type == PFM_PMU_TYPE_CORE, info.num_cntrs, info.num_fixed_cntrs});
  }
}

void Pfm::for_each_event(const PfmPmu& pmu,
                         const std::function<void(const PfmEvent&)>& take) const {
  pfm_pmu_info_t pmu_info{};
  pmu_info.size = sizeof pmu_info;
  if (calls_->get_pmu_info(static_cast<pfm_pmu_t>(pmu.id), &pmu_info) != PFM_SUCCESS) return;
  for (int at = pmu_info.first_event; at >= 0; at = calls_->get_event_next(at)) {
    pfm_event_info_t info{};
    info.size = sizeof info;
    if (calls_->get_event_info(at, PFM_OS_PERF_EVENT_EXT, &info) != PFM_SUCCESS) continue;
    const std::string name = text_of(info.name);
    bool has_masks = false;
    for (int i = 0; i < info.nattrs; ++i) {
      pfm_event_attr_info_t mask{};
      mask.size = sizeof mask;
      if (calls_->get_event_attr_info(at, i, PFM_OS_PERF_EVENT_EXT, &mask) != PFM_SUCCESS) continue;
      if (mask.type != PFM_ATTR_UMASK) continue;
      has_masks = true;
      take({name + ":" + text_of(mask.name), text_of(info.desc) + ": " + text_of(mask.desc)});
    }
    if (!has_masks) take({name, text_of(info.desc)});
  }
}

Result<Event> Pfm::encode_any(const std::string& name) const {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  pfm_perf_encode_arg_t argument{};
  argument.attr = &attributes;
  argument.size = sizeof argument;
  constexpr int kEverywhere = PFM_PLM0 | PFM_PLM3 | PFM_PLMH;
  const int status =
      calls_->get_os_event_encoding(name.c_str(), kEverywhere, PFM_OS_PERF_EVENT_EXT, &argument);
  if (status != PFM_SUCCESS)
    return failure(status == PFM_ERR_NOTFOUND ? ErrorKind::not_found : ErrorKind::invalid_input,
                   "encode " + in_quotes(name),
                   "libpfm4 says: " + text_of(calls_->strerror(status)));
  pfm_event_info_t info{};
  info.size = sizeof info;
  Event event;
  if (calls_->get_event_info(argument.idx, PFM_OS_PERF_EVENT_EXT, &info) != PFM_SUCCESS)
    return failure(ErrorKind::internal, "encode " + in_quotes(name),
                   "libpfm4 forgot its own event");
  const auto owner = std::find_if(pmus_.begin(), pmus_.end(),
                                  [&](const PfmPmu& pmu) { return pmu.id == info.pmu; });
  event.encoding = {owner == pmus_.end() ? std::string() : owner->name, attributes.type,
                    attributes.config, attributes.config1, attributes.config2};
  event.modifiers = {attributes.exclude_user == 0, attributes.exclude_kernel == 0,
                     attributes.exclude_hv == 0, static_cast<std::uint8_t>(attributes.precise_ip)};
  event.origin = "libpfm4";
  event.description = text_of(info.desc);
  return event;
}

Result<Event> Pfm::encode(std::string_view name) {
  if (with_absent_) {
    calls_->terminate();
    LOFT_CHECK(initialise(false));
  }
  return encode_any(std::string(name));
}

Result<Event> Pfm::encode_as(const PfmPmu& pmu, std::string_view name) {
  if (!pmu.core)
    return failure(ErrorKind::unsupported, "encode " + in_quotes(name),
                   "libpfm4's encodings are right only for core PMUs when the PMU is absent");
  if (!with_absent_) {
    calls_->terminate();
    LOFT_CHECK(initialise(true));
  }
  const std::string prefix = pmu.name + "::";
  return encode_any(name.starts_with(prefix) ? std::string(name) : prefix + std::string(name));
}

Result<PfmPmu> Pfm::find_pmu(std::string_view name) const {
  const auto by_name = [&](std::string_view wanted) {
    return std::find_if(pmus_.begin(), pmus_.end(),
                        [&](const PfmPmu& pmu) { return to_lower(pmu.name) == to_lower(wanted); });
  };
  auto found = by_name(name);
  if (found == pmus_.end()) {
    const auto* friendly =
        std::find_if(std::begin(kFriendly), std::end(kFriendly),
                     [&](const FriendlyName& entry) { return entry.friendly == to_lower(name); });
    if (friendly != std::end(kFriendly)) found = by_name(friendly->pmu);
  }
  if (found != pmus_.end()) return *found;
  std::vector<std::string> known;
  for (const PfmPmu& pmu : pmus_) known.push_back(pmu.name);
  for (const FriendlyName& entry : kFriendly)
    if (by_name(entry.pmu) != pmus_.end()) known.emplace_back(entry.friendly);
  const auto near = nearest(name, known);
  return failure(ErrorKind::not_found, "find the CPU " + in_quotes(name),
                 "libpfm4 has no tables of this name",
                 near.empty() ? "try names like zen3, skylake, neoverse-n1, or libpfm4's own"
                              : "did you mean " + join(near, ", ") + "?");
}

int PfmPmu::counters_with_smt() const {
  static constexpr std::string_view kShared[] = {"snb", "ivb", "hsw", "bdw", "skl", "skx", "clx"};
  constexpr int kOfThread = 4;
  const bool is_shared = core && std::ranges::any_of(kShared, [&](std::string_view family) {
                           return name.starts_with(family);
                         });
  return is_shared ? std::min(counters, kOfThread) : counters;
}

Result<std::string> core_pmu_of(const std::string& cpu) {
  if (cpu.empty()) return std::string();
  LOFT_TRY(const auto pfm, Pfm::instance());
  LOFT_TRY(const auto pmu, pfm->find_pmu(cpu));
  return pmu.name;
}

}  // namespace loft::event
