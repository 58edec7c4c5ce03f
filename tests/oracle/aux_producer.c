// A shared object for LD_PRELOAD: a machine with a PMU that writes AUX data, for recorders to be tested without one. Events of the
// type in $AUX_PMU_TYPE are opened as dummies; what the recorder maps as their AUX area is ordinary memory. The first area gets the
// bytes of the file $AUX_TRACE, and the control page says that they have just been written. Samples that would have a piece of it
// have one of no bytes, as the kernel gives them where there is nothing to be had: the physical address of nowhere, which is zero.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_DESCRIPTORS = 4096 };
static struct perf_event_mmap_page* pages[MOST_DESCRIPTORS];
static int filled;

static void produce(struct perf_event_mmap_page* page, unsigned char* area, size_t size) {
  const char* path = getenv("AUX_TRACE");
  FILE* file = path == NULL || filled ? NULL : fopen(path, "rb");
  if (file == NULL) return;
  filled = 1;
  size_t got = fread(area, 1, size, file);
  fclose(file);
  __atomic_store_n(&page->aux_head, got, __ATOMIC_RELEASE);
}

void* mmap(void* address, size_t length, int protection, int flags, int fd, off_t offset) {
  static void* (*next)(void*, size_t, int, int, int, off_t);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "mmap");
  struct perf_event_mmap_page* page = fd >= 0 && fd < MOST_DESCRIPTORS ? pages[fd] : NULL;
  if (page != NULL && offset > 0 && (uint64_t)offset == page->aux_offset) {
    if (page->aux_size != length) return errno = EINVAL, MAP_FAILED;
    void* area = next(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area != MAP_FAILED) produce(page, area, length);
    return area;
  }
  void* mapped = next(address, length, protection, flags, fd, offset);
  if (mapped != MAP_FAILED && fd >= 0 && fd < MOST_DESCRIPTORS && flags == MAP_SHARED && offset == 0)
    pages[fd] = mapped;
  return mapped;
}

void* mmap64(void* address, size_t length, int protection, int flags, int fd, off_t offset) {
  return mmap(address, length, protection, flags, fd, offset);
}

long syscall(long number, ...) {
  static long (*next)(long, ...);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "syscall");
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) arguments[i] = va_arg(list, long);
  va_end(list);
  struct perf_event_attr dummy;
  if (number == SYS_perf_event_open) {
    const char* type = getenv("AUX_PMU_TYPE");
    const struct perf_event_attr* attr = (const struct perf_event_attr*)arguments[0];
    memset(&dummy, 0, sizeof dummy);
    memcpy(&dummy, attr, attr->size < sizeof dummy ? attr->size : sizeof dummy);
    if (type != NULL && (dummy.sample_type & PERF_SAMPLE_AUX) != 0) {
      dummy.sample_type = (dummy.sample_type & ~(uint64_t)PERF_SAMPLE_AUX) | PERF_SAMPLE_PHYS_ADDR;
      dummy.aux_sample_size = 0;
      arguments[0] = (long)&dummy;
    }
    if (type != NULL && dummy.aux_output) {
      dummy.aux_output = 0;
      arguments[0] = (long)&dummy;
    }
    if (type != NULL && attr->type == strtoul(type, NULL, 0)) {
      dummy.type = PERF_TYPE_SOFTWARE;
      dummy.config = PERF_COUNT_SW_DUMMY;
      dummy.config1 = dummy.config2 = 0;
      dummy.aux_watermark = 0;
      arguments[0] = (long)&dummy;
    }
  }
  return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}
