// What a call's descriptors refer to when it begins. User space would look too late: a program that
// closes a descriptor and gets the same number for another file does so within microseconds.
//
// Names are read once for each file that a thread uses (struct trace_file); after that, a call
// costs some reads that tell whether the descriptor is still the same file.
#pragma once

#include "bpf/programs/core_files.h"
#include "bpf/programs/traced_memory.h"

/// On the way from a file to the process's root, across mounts.
struct name_walk {
  __u64 dentry, mount;
  struct path root;
  __u32 at;     // in the call's memory: where the next name goes
  __u32 end;    // no name begins here or beyond
  __u32 flags;  // enum trace_file_flags
};

/// One step: a name, or from a file system to where it is mounted. 0: that was the last.
__attribute__((noinline)) int add_name(struct pending_call* call, struct name_walk* walk) {
  if (!call || !walk) return 0;
  const struct dentry* dentry = (const struct dentry*)walk->dentry;
  const struct vfsmount* inside = (const struct vfsmount*)walk->mount;
  const struct dentry* parent = BPF_CORE_READ(dentry, d_parent);
  if (dentry == walk->root.dentry && inside == walk->root.mnt) {
    walk->flags = 0;
    return 0;
  }
  if (dentry == BPF_CORE_READ(inside, mnt_root)) {
    const struct mount* mount =
        (const struct mount*)(walk->mount - bpf_core_field_offset(struct mount, mnt));
    const struct mount* above = BPF_CORE_READ(mount, mnt_parent);
    if (!above || above == mount) {
      walk->flags = 0;
      return 0;
    }
    walk->dentry = (__u64)BPF_CORE_READ(mount, mnt_mountpoint);
    walk->mount = (__u64)above + bpf_core_field_offset(struct mount, mnt);
    return 1;
  }
  __u32 at = walk->at;
  if (at >= walk->end || at >= TRACE_PIECES_BEGIN + TRACE_FILE_BYTES) return 0;
  long size = bpf_probe_read_kernel_str(&call->memory[at], TRACE_FILE_NAME_BYTES,
                                        BPF_CORE_READ(dentry, d_name.name));
  if (size <= 0 || size > TRACE_FILE_NAME_BYTES) return 0;
  walk->at = at + (__u32)size;
  walk->dentry = (__u64)parent;
  if (dentry != parent) return 1;
  walk->flags = TRACE_FILE_ALONE;
  return 0;
}

/// The top of a file system is in no directory either.
static _Bool is_deleted(const struct dentry* dentry) {
  return !BPF_CORE_READ(dentry, d_hash.pprev) && BPF_CORE_READ(dentry, d_parent) != dentry;
}

__attribute__((noinline)) int add_new_file(struct pending_call* call, __u64 file_at) {
  __u32 begin = call ? call->memory_size : 0;
  if (!call || begin >= TRACE_PIECES_BEGIN) return 0;
  const struct file* file = (const struct file*)file_at;
  struct trace_piece* piece = (struct trace_piece*)&call->memory[begin];
  struct trace_file* sent = (struct trace_file*)(piece + 1);
  const struct dentry* dentry = BPF_CORE_READ(file, f_path.dentry);
  const struct inode* inode = BPF_CORE_READ(file, f_inode);
  __builtin_memset(sent, 0, sizeof(*sent));
  sent->inode = BPF_CORE_READ(inode, i_ino);
  bpf_probe_read_kernel_str(sent->type, sizeof(sent->type),
                            BPF_CORE_READ(inode, i_sb, s_type, name));
  struct name_walk walk = {
      .dentry = (__u64)dentry,
      .mount = (__u64)BPF_CORE_READ(file, f_path.mnt),
      .at = begin + sizeof(*piece) + sizeof(*sent),
      .end = begin + TRACE_FILE_BYTES,
      .flags = TRACE_FILE_CUT,  // unless the walk comes to its end
  };
  const struct fs_struct* where = bpf_get_current_task_btf()->fs;
  if (where) bpf_core_read(&walk.root, sizeof(walk.root), &where->root);
  for (__u32 i = 0; i < TRACE_FILE_NAMES; ++i)
    if (!add_name(call, &walk)) break;
  sent->flags = (__u8)walk.flags;
  if (is_deleted(dentry)) sent->flags |= TRACE_FILE_DELETED;
  __u32 size = walk.at - begin - sizeof(*piece);
  keep_piece(call, piece, size, size);
  return 0;
}

/// The file of one descriptor argument.
__attribute__((noinline)) int add_file(struct pending_call* call, __u32 arg) {
  if (!call || arg >= 6) return 0;
  __u32 fd = (__u32)call->record.args[arg];
  const struct files_struct* files = bpf_get_current_task_btf()->files;
  if (!files) return 0;
  const struct fdtable* table = files->fdt;
  if (!table || fd >= table->max_fds) return 0;
  const struct file* file = 0;
  bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
  if (!file) return 0;
  struct path path = {};
  bpf_core_read(&path, sizeof(path), &file->f_path);
  const struct inode* inode = BPF_CORE_READ(file, f_inode);
  struct sent_file now = {
      .mount = (__u64)path.mnt,
      .dentry = (__u64)path.dentry,
      .name_hash = BPF_CORE_READ(path.dentry, d_name.hash_len),
      .inode = BPF_CORE_READ(inode, i_ino),
      .fd = fd,
      .is_deleted = is_deleted(path.dentry),
  };
  struct sent_file* sent = &call->files[fd % TRACE_FILE_SLOTS];
  _Bool is_known = sent->label != 0 && sent->fd == now.fd && sent->mount == now.mount &&
                   sent->dentry == now.dentry && sent->name_hash == now.name_hash &&
                   sent->inode == now.inode && sent->is_deleted == now.is_deleted;
  now.label = is_known ? sent->label : bpf_ktime_get_ns();
  struct trace_piece* piece = new_piece(call, now.label, PIECE_LABEL(arg, TRACE_FILE_PART));
  if (!piece) return 0;
  if (is_known) {
    keep_piece(call, piece, 0, 0);
    return 0;
  }
  *sent = now;
  call->files_unsent = 1;
  return add_new_file(call, (__u64)file);
}

/// Those of all descriptor arguments; before any other memory, because they cannot be read again.
static void add_files(struct pending_call* call, __u32 descriptors) {
  if (call->files_unsent) {
    // The reader does not know them: they were filtered out, or found no room.
    for (__u32 i = 0; i < TRACE_FILE_SLOTS; ++i) call->files[i].label = 0;
    call->files_unsent = 0;
  }
  for (__u32 arg = 0; arg < 6; ++arg)
    if (descriptors >> arg & 1) add_file(call, arg);
  call->files_size = call->memory_size;
}
