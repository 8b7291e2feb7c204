/* The types and numbers of PAPI 7's C interface, as far as this library fills them in. Programs are
 * built against PAPI's own header; sizes and places of all fields must be the same there, which
 * tests/papi checks where that header is installed. */
#ifndef LOFT_PAPI_INTERFACE_H
#define LOFT_PAPI_INTERFACE_H

#define PAPI_EXPORT __attribute__((visibility("default")))

enum {
  PAPI_OK = 0,
  PAPI_EINVAL = -1,
  PAPI_ENOMEM = -2,
  PAPI_ESYS = -3,
  PAPI_ECMP = -4,
  PAPI_ECLOST = -5,
  PAPI_EBUG = -6,
  PAPI_ENOEVNT = -7,
  PAPI_ECNFLCT = -8,
  PAPI_ENOTRUN = -9,
  PAPI_EISRUN = -10,
  PAPI_ENOEVST = -11,
  PAPI_ENOTPRESET = -12,
  PAPI_ENOCNTR = -13,
  PAPI_EMISC = -14,
  PAPI_EPERM = -15,
  PAPI_ENOINIT = -16,
  PAPI_ENOCMP = -17,
  PAPI_ENOSUPP = -18,
  PAPI_ENOIMPL = -19,
  PAPI_EBUF = -20,
  PAPI_EINVAL_DOM = -21,
  PAPI_EATTR = -22,
  PAPI_ECOUNT = -23,
  PAPI_ECOMBO = -24,
  PAPI_ECMP_DISABLED = -25,
  PAPI_EDELAY_INIT = -26,
  PAPI_EMULPASS = -27,
  PAPI_NUM_ERRORS = 28
};

enum { PAPI_NOT_INITED = 0, PAPI_LOW_LEVEL_INITED = 1, PAPI_THREAD_LEVEL_INITED = 4 };
enum { PAPI_NULL = -1 };

enum { PAPI_DOM_USER = 1, PAPI_DOM_KERNEL = 2, PAPI_DOM_OTHER = 4, PAPI_DOM_SUPERVISOR = 8 };
enum { PAPI_GRN_THR = 1 };
enum {
  PAPI_STOPPED = 0x01,
  PAPI_RUNNING = 0x02,
  PAPI_NOT_INIT = 0x08,
  PAPI_OVERFLOWING = 0x10,
  PAPI_PROFILING = 0x20,
  PAPI_MULTIPLEXING = 0x40,
  PAPI_ATTACHED = 0x80
};
enum {
  PAPI_PROFIL_RANDOM = 0x1,
  PAPI_PROFIL_WEIGHTED = 0x2,
  PAPI_PROFIL_COMPRESS = 0x4,
  PAPI_PROFIL_BUCKET_32 = 0x10,
  PAPI_PROFIL_BUCKET_64 = 0x20,
  PAPI_PROFIL_ALL = 0x1FF
};
enum { PAPI_TLS_NUM = 3, PAPI_TLS_ALL_THREADS = 0x10, PAPI_LOCK_NUM = 2 };

enum {
  PAPI_DETACH = 1,
  PAPI_DEBUG = 2,
  PAPI_MULTIPLEX = 3,
  PAPI_DEFDOM = 4,
  PAPI_DOMAIN = 5,
  PAPI_DEFGRN = 6,
  PAPI_GRANUL = 7,
  PAPI_DEF_MPX_NS = 8,
  PAPI_MAX_MPX_CTRS = 11,
  PAPI_PRELOAD = 13,
  PAPI_CLOCKRATE = 14,
  PAPI_MAX_HWCTRS = 15,
  PAPI_HWINFO = 16,
  PAPI_EXEINFO = 17,
  PAPI_MAX_CPUS = 18,
  PAPI_ATTACH = 19,
  PAPI_SHLIBINFO = 20,
  PAPI_LIB_VERSION = 21,
  PAPI_COMPONENTINFO = 22,
  PAPI_DEF_ITIMER = 25,
  PAPI_DEF_ITIMER_NS = 26,
  PAPI_INHERIT = 28,
  PAPI_USER_EVENTS_FILE = 29
};

enum {
  PAPI_ENUM_EVENTS = 0,
  PAPI_ENUM_FIRST = 1,
  PAPI_PRESET_ENUM_AVAIL = 2,
  PAPI_PRESET_ENUM_MSC = 3,
  PAPI_PRESET_ENUM_INS,
  PAPI_PRESET_ENUM_IDL,
  PAPI_PRESET_ENUM_BR,
  PAPI_PRESET_ENUM_CND,
  PAPI_PRESET_ENUM_MEM,
  PAPI_PRESET_ENUM_CACH,
  PAPI_PRESET_ENUM_L1,
  PAPI_PRESET_ENUM_L2,
  PAPI_PRESET_ENUM_L3,
  PAPI_PRESET_ENUM_TLB,
  PAPI_PRESET_ENUM_FP,
  PAPI_NTV_ENUM_UMASKS
};

#define PAPI_PRESET_MASK 0x80000000u
#define PAPI_NATIVE_MASK 0x40000000u
enum {
  PAPI_MIN_STR_LEN = 64,
  PAPI_MAX_STR_LEN = 128,
  PAPI_2MAX_STR_LEN = 256,
  PAPI_HUGE_STR_LEN = 1024,
  PAPI_PMU_MAX = 80,
  PAPI_MAX_INFO_TERMS = 12,
  PAPI_MH_MAX_LEVELS = 6,
  PAPI_MAX_MEM_HIERARCHY_LEVELS = 4
};

typedef struct PAPI_all_thr_spec_t {
  int num;
  unsigned long* id;
  void** data;
} PAPI_all_thr_spec_t;

typedef void (*PAPI_overflow_handler_t)(int set, void* address, long long vector, void* context);

typedef struct PAPI_sprofil_t {
  void* pr_base;
  unsigned pr_size;
  void* pr_off;
  unsigned pr_scale;
} PAPI_sprofil_t;

typedef struct PAPI_component_info_t {
  char name[PAPI_MAX_STR_LEN];
  char short_name[PAPI_MIN_STR_LEN];
  char description[PAPI_MAX_STR_LEN];
  char version[PAPI_MIN_STR_LEN];
  char support_version[PAPI_MIN_STR_LEN];
  char kernel_version[PAPI_MIN_STR_LEN];
  char disabled_reason[PAPI_HUGE_STR_LEN];
  int disabled;
  int initialized;
  int CmpIdx;
  int num_cntrs;
  int num_mpx_cntrs;
  int num_preset_events;
  int num_native_events;
  int default_domain;
  int available_domains;
  int default_granularity;
  int available_granularities;
  int hardware_intr_sig;
  int component_type;
  char* pmu_names[PAPI_PMU_MAX];
  int reserved[8];
  unsigned hardware_intr : 1;
  unsigned precise_intr : 1;
  unsigned posix1b_timers : 1;
  unsigned kernel_profile : 1;
  unsigned kernel_multiplex : 1;
  unsigned fast_counter_read : 1;
  unsigned fast_real_timer : 1;
  unsigned fast_virtual_timer : 1;
  unsigned attach : 1;
  unsigned attach_must_ptrace : 1;
  unsigned cntr_umasks : 1;
  unsigned cpu : 1;
  unsigned inherit : 1;
  unsigned reserved_bits : 19;
} PAPI_component_info_t;

typedef struct PAPI_address_map_t {
  char name[PAPI_HUGE_STR_LEN];
  void* text_start;
  void* text_end;
  void* data_start;
  void* data_end;
  void* bss_start;
  void* bss_end;
} PAPI_address_map_t;

typedef struct PAPI_exe_info_t {
  char fullname[PAPI_HUGE_STR_LEN];
  PAPI_address_map_t address_info;
} PAPI_exe_info_t;

typedef struct PAPI_shlib_info_t {
  PAPI_address_map_t* map;
  int count;
} PAPI_shlib_info_t;

typedef struct PAPI_mh_tlb_info_t {
  int type, num_entries, page_size, associativity;
} PAPI_mh_tlb_info_t;

typedef struct PAPI_mh_cache_info_t {
  int type, size, line_size, num_lines, associativity;
} PAPI_mh_cache_info_t;

typedef struct PAPI_mh_level_t {
  PAPI_mh_tlb_info_t tlb[PAPI_MH_MAX_LEVELS];
  PAPI_mh_cache_info_t cache[PAPI_MH_MAX_LEVELS];
} PAPI_mh_level_t;

typedef struct PAPI_mh_info_t {
  int levels;
  PAPI_mh_level_t level[PAPI_MAX_MEM_HIERARCHY_LEVELS];
} PAPI_mh_info_t;

typedef struct PAPI_hw_info_t {
  int ncpu, threads, cores, sockets, nnodes, totalcpus;
  int vendor;
  char vendor_string[PAPI_MAX_STR_LEN];
  int model;
  char model_string[PAPI_MAX_STR_LEN];
  float revision;
  int cpuid_family, cpuid_model, cpuid_stepping;
  int cpu_max_mhz, cpu_min_mhz;
  PAPI_mh_info_t mem_hierarchy;
  int virtualized;
  char virtual_vendor_string[PAPI_MAX_STR_LEN];
  char virtual_vendor_version[PAPI_MAX_STR_LEN];
  float mhz;
  int clock_mhz;
  int reserved[8];
} PAPI_hw_info_t;

typedef union PAPI_option_t {
  struct {
    char lib_preload_env[PAPI_MAX_STR_LEN];
    char lib_preload_sep;
    char lib_dir_env[PAPI_MAX_STR_LEN];
    char lib_dir_sep;
  } preload;
  struct {
    int level;
    int (*handler)(int code);
  } debug;
  struct {
    int eventset, inherit;
  } inherit;
  struct {
    int def_cidx, eventset, granularity;
  } granularity;
  struct {
    int def_cidx, eventset, domain;
  } domain;
  struct {
    int eventset;
    unsigned long tid;
  } attach;
  struct {
    int eventset, ns, flags;
  } multiplex;
  PAPI_hw_info_t* hw_info;
  PAPI_shlib_info_t* shlib_info;
  PAPI_exe_info_t* exe_info;
  PAPI_component_info_t* cmp_info;
  char* events_file;
} PAPI_option_t;

typedef struct PAPI_dmem_info_t {
  long long peak, size, resident, high_water_mark, shared, text, library, heap, locked, stack,
      pagesize, pte;
} PAPI_dmem_info_t;

typedef struct PAPI_event_info_t {
  unsigned event_code;
  char symbol[PAPI_HUGE_STR_LEN];
  char short_descr[PAPI_MIN_STR_LEN];
  char long_descr[PAPI_HUGE_STR_LEN];
  int component_index;
  char units[PAPI_MIN_STR_LEN];
  int location, data_type, value_type, timescope, update_type, update_freq;
  unsigned count;
  unsigned event_type;
  char derived[PAPI_MIN_STR_LEN];
  char postfix[PAPI_2MAX_STR_LEN];
  unsigned code[PAPI_MAX_INFO_TERMS];
  char name[PAPI_MAX_INFO_TERMS][PAPI_2MAX_STR_LEN];
  char note[PAPI_HUGE_STR_LEN];
} PAPI_event_info_t;

#endif
