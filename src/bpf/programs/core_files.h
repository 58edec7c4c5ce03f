// The kernel's types of open files and their names, as core_types.h has others.
#pragma once

#include "bpf/programs/core_types.h"

struct qstr {
  __u64 hash_len;  // of `name`: hash and length
  const unsigned char* name;
} KERNEL_TYPE;
struct hlist_bl_node {
  struct hlist_bl_node** pprev;
} KERNEL_TYPE;
struct file_system_type {
  const char* name;
} KERNEL_TYPE;
struct super_block {
  struct file_system_type* s_type;
} KERNEL_TYPE;
struct inode {
  struct super_block* i_sb;
  unsigned long i_ino;
} KERNEL_TYPE;
struct dentry {
  struct hlist_bl_node d_hash;
  struct dentry* d_parent;
  struct qstr d_name;
} KERNEL_TYPE;
struct vfsmount {
  struct dentry* mnt_root;
} KERNEL_TYPE;
struct mount {
  struct mount* mnt_parent;
  struct dentry* mnt_mountpoint;
  struct vfsmount mnt;
} KERNEL_TYPE;
struct path {
  struct vfsmount* mnt;
  struct dentry* dentry;
} KERNEL_TYPE;
struct file {
  struct inode* f_inode;
  struct path f_path;
} KERNEL_TYPE;
struct fs_struct {
  struct path root;
} KERNEL_TYPE;
struct fdtable {
  unsigned int max_fds;
  struct file** fd;
} KERNEL_TYPE;
struct files_struct {
  struct fdtable* fdt;
} KERNEL_TYPE;
