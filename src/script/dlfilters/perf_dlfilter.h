/* The interface between `script --dlfilter` and a filter: a shared object that decides which
 * samples are shown.
 *
 * It is the interface of perf (perf-dlfilter(1)): a filter that was compiled with this header runs
 * in perf, and one that was compiled with perf's header runs here. docs/dlfilters.md has an
 * example.
 *
 * Structures grow at their end only. `size` is that of the side which filled it in: check it before
 * using a member that is said to be new. */
#ifndef PERF_DLFILTER_H
#define PERF_DLFILTER_H

#include <linux/perf_event.h>
#include <linux/types.h>

/* Members that older versions lack. */
#define PERF_DLFILTER_HAS_MACHINE_PID
#define PERF_DLFILTER_HAS_AL_CLEANUP

/* Bits of perf_dlfilter_sample.flags: what kind of branch a decoder of instruction traces found. */
enum {
  PERF_DLFILTER_FLAG_BRANCH = 1ULL << 0,
  PERF_DLFILTER_FLAG_CALL = 1ULL << 1,
  PERF_DLFILTER_FLAG_RETURN = 1ULL << 2,
  PERF_DLFILTER_FLAG_CONDITIONAL = 1ULL << 3,
  PERF_DLFILTER_FLAG_SYSCALLRET = 1ULL << 4,
  PERF_DLFILTER_FLAG_ASYNC = 1ULL << 5,
  PERF_DLFILTER_FLAG_INTERRUPT = 1ULL << 6,
  PERF_DLFILTER_FLAG_TX_ABORT = 1ULL << 7,
  PERF_DLFILTER_FLAG_TRACE_BEGIN = 1ULL << 8,
  PERF_DLFILTER_FLAG_TRACE_END = 1ULL << 9,
  PERF_DLFILTER_FLAG_IN_TX = 1ULL << 10,
  PERF_DLFILTER_FLAG_VMENTRY = 1ULL << 11,
  PERF_DLFILTER_FLAG_VMEXIT = 1ULL << 12,
};

/* A sample. Numbers have the meaning of perf_event_open(2); a field that was not recorded has all
 * its bits set if it says who, when or where (pid, tid, time, id, stream_id, cpu), and is 0
 * otherwise. */
struct perf_dlfilter_sample {
  __u32 size; /* of this structure, in bytes */
  __u16 ins_lat;
  __u16 p_stage_cyc;
  __u64 ip;
  __s32 pid;
  __s32 tid;
  __u64 time; /* ns */
  __u64 addr;
  __u64 id;
  __u64 stream_id;
  __u64 period;
  __u64 weight;
  __u64 transaction;
  __u64 insn_cnt; /* instructions and cycles since the last sample with them, of decoded traces */
  __u64 cyc_cnt;
  __s32 cpu;
  __u32 flags; /* PERF_DLFILTER_FLAG_… */
  __u64 data_src;
  __u64 phys_addr;
  __u64 data_page_size; /* bytes */
  __u64 code_page_size; /* bytes */
  __u64 cgroup;
  __u8 cpumode;             /* PERF_RECORD_MISC_KERNEL, …_USER and so on */
  __u8 addr_correlates_sym; /* not 0: resolve_addr() answers */
  __u16 misc;               /* of the record's header */
  __u32 raw_size;           /* bytes */
  const void* raw_data;
  __u64 brstack_nr; /* entries */
  const struct perf_branch_entry* brstack;
  __u64 raw_callchain_nr; /* entries, PERF_CONTEXT_* markers included */
  const __u64* raw_callchain;
  const char* event; /* its name */
  /* PERF_DLFILTER_HAS_MACHINE_PID: 0 and -1 unless the sample is from a guest */
  __s32 machine_pid;
  __s32 vcpu;
};

/* The place of an address. */
struct perf_dlfilter_al {
  __u32 size;      /* of this structure, in bytes */
  __u32 symoff;    /* bytes from the symbol's start */
  const char* sym; /* NULL: no symbol is known there */
  __u64 addr;      /* in the object; sym_start and sym_end count the same way */
  __u64 sym_start;
  __u64 sym_end;
  const char* dso;    /* NULL: nothing was mapped there */
  __u8 sym_binding;   /* STB_LOCAL, STB_GLOBAL or STB_WEAK of <elf.h> */
  __u8 is_64_bit;     /* only with dso */
  __u8 is_kernel_ip;  /* the address is the kernel's */
  __u32 buildid_size; /* bytes; 0: not known */
  __u8* buildid;
  /* Set by resolve_ip() only. */
  __u8 filtered; /* not 0: other options will drop the sample (filter_event_early) */
  const char* comm;
  /* PERF_DLFILTER_HAS_AL_CLEANUP */
  void* priv; /* the resolver's own */
};

/* What a filter may call, while one of its functions runs. `ctx` is what that function was given. A
 * filter has a global variable `perf_dlfilter_fns` of this type, which is filled in when the filter
 * is loaded. In start() and stop() only args() answers. */
struct perf_dlfilter_fns {
  /* The place of `ip`, and of `addr` if addr_correlates_sym. NULL: not known. Valid until the
   * function returns. */
  const struct perf_dlfilter_al* (*resolve_ip)(void* ctx);
  const struct perf_dlfilter_al* (*resolve_addr)(void* ctx);
  /* The texts given by --dlarg, and how many there are. */
  char** (*args)(void* ctx, int* dlargc);
  /* The place of any address in the sample's process, or in the kernel. Set al->size before. 0, or
   * -1: nothing known. */
  __s32 (*resolve_address)(void* ctx, __u64 address, struct perf_dlfilter_al* al);
  /* The sampled instruction, and its length in bytes. NULL: its code is not available. */
  const __u8* (*insn)(void* ctx, __u32* length);
  /* The source file and the line of `ip`. NULL: not known. */
  const char* (*srcline)(void* ctx, __u32* line_number);
  struct perf_event_attr* (*attr)(void* ctx);
  /* Reads code at a run time address. The number of bytes, which may be less than len; -1: not
   * available. */
  __s32 (*object_code)(void* ctx, __u64 ip, void* buf, __u32 len);
  /* PERF_DLFILTER_HAS_AL_CLEANUP: gives back what resolve_address() put into `al`; may be NULL in
   * older versions. */
  void (*al_cleanup)(void* ctx, struct perf_dlfilter_al* al);
  void* (*reserved[119])(void*);
};

/* The functions of a filter; all may be missing, but one of the first two is what makes it one.
 *
 *   int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
 *       0 keeps the sample, 1 drops it, a negative value ends the command. Called for samples that
 * passed all options. int filter_event_early(void *data, const struct perf_dlfilter_sample *sample,
 * void *ctx); the same, for every sample, before options decide. int start(void **data, void *ctx);
 *       before all of them; *data is handed to the others. 0, or a negative value: it cannot work.
 *   int stop(void *data, void *ctx);
 *       after all of them. 0, or a negative value.
 *   const char *filter_description(const char **long_description);
 *       a line for --list-dlfilters, and more for -v. */

#endif
