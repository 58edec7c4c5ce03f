// A virtual machine that writes N times to a port, each of which ends its run, and then halts. Prints how often it ran and why it
// stopped: "io N hlt 1". The processor starts in real mode at the code's address.
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

enum { START = 0x1000, SIZE = 0x1000 };

static int checked(int result, const char *what) {
  if (result >= 0) return result;
  perror(what);
  exit(1);
}

int main(int count, char **arguments) {
  unsigned times = count > 1 ? (unsigned)atoi(arguments[1]) : 1;
  unsigned char code[] = {0xb9, times & 0xff, times >> 8,  // mov cx, N
                          0xe6, 0x10,                      // out 0x10, al
                          0xe2, 0xfc,                      // loop: to the out
                          0xf4};                           // hlt
  int kvm = checked(open("/dev/kvm", O_RDWR), "/dev/kvm");
  int machine = checked(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
  void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  memcpy(memory, code, sizeof code);
  struct kvm_userspace_memory_region region = {
      .guest_phys_addr = START, .memory_size = SIZE, .userspace_addr = (unsigned long)memory};
  checked(ioctl(machine, KVM_SET_USER_MEMORY_REGION, &region), "KVM_SET_USER_MEMORY_REGION");
  int cpu = checked(ioctl(machine, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
  struct kvm_run *run = mmap(NULL, (size_t)ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
  struct kvm_sregs special;
  checked(ioctl(cpu, KVM_GET_SREGS, &special), "KVM_GET_SREGS");
  special.cs.base = 0;
  special.cs.selector = 0;
  checked(ioctl(cpu, KVM_SET_SREGS, &special), "KVM_SET_SREGS");
  struct kvm_regs registers = {.rip = START, .rflags = 2};
  checked(ioctl(cpu, KVM_SET_REGS, &registers), "KVM_SET_REGS");
  for (unsigned io = 0;;) {
    checked(ioctl(cpu, KVM_RUN, 0), "KVM_RUN");
    if (run->exit_reason == KVM_EXIT_IO) {
      ++io;
    } else {
      printf("io %u %s\n", io, run->exit_reason == KVM_EXIT_HLT ? "hlt 1" : "something else");
      return run->exit_reason != KVM_EXIT_HLT;
    }
  }
}
