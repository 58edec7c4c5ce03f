#!/bin/busybox sh
# The first process of a guest. It mounts what the host shares, runs the job, and powers the guest off.
#
#   tag root   what becomes /, read-only: it goes under an overlay, and what is written stays in memory
#   tag tree   the repository, at the same path as outside ($TREE), if it is not inside root; under an overlay too
#   tag share  /share, if there is one: writable
#   tag job    the job: `run` (a bash script) and `environment`; receives `up`, `stdout`, `stderr` and `status`
export PATH=/bin
/bin/busybox --install -s /bin

fail() {
  echo "guest: $*" >/dev/console
  poweroff -f
}

mount_shared() {  # TAG DIRECTORY OPTIONS
  mount -t 9p -o "trans=virtio,version=9p2000.L,msize=524288,$3" "$1" "$2"
}

mount_overlay() {  # NAME LOWER TARGET
  mkdir -p "/upper/$1/files" "/upper/$1/work"
  mount -t overlay -o "lowerdir=$2,upperdir=/upper/$1/files,workdir=/upper/$1/work" overlay "$3"
}

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /modules/*; do
  insmod "$module" || fail "module $module cannot be loaded"
done
mount -t tmpfs upper /upper

mount_shared job /job access=any || fail "the job's directory cannot be mounted"
. /job/environment
mount_shared root /lower ro,cache=loose || fail "the root directory cannot be mounted"
mount_overlay root /lower /root || fail "there is no overlay over the root directory"

mount -t proc proc /root/proc
mount -t sysfs sys /root/sys
mount -t devtmpfs dev /root/dev
mkdir -p /root/dev/pts /root/dev/shm /root/share /root/tmp /root/run "/root/$TREE"
mount -t devpts pts /root/dev/pts
mount -t tmpfs shm /root/dev/shm
mount -t tmpfs run /root/run
cp -r /later /root/run/modules
# The build-id cache makes hard links, which copies a file up into the overlay and gives it another inode: existing recordings and
# mappings no longer match their paths. On a separate file system it makes copies instead.
mkdir -p /root/root/.debug
mount -t tmpfs build-ids /root/root/.debug
mount -t tracefs tracing /root/sys/kernel/tracing
mount -t debugfs debug /root/sys/kernel/debug
mount -t bpf bpf /root/sys/fs/bpf
mount -t cgroup2 cgroup /root/sys/fs/cgroup
if [ "$HAS_SHARE" = 1 ]; then
  mount_shared share /root/share access=any || fail "the directory for /share cannot be mounted"
fi
if [ "$TREE_IS_SHARED" = 1 ]; then
  mkdir -p /tree
  mount_shared tree /tree ro,cache=loose || fail "the repository cannot be mounted"
  mount_overlay tree /tree "/root/$TREE" || fail "there is no overlay over the repository"
fi
hostname guest
ifconfig lo 127.0.0.1 up
ln -s /proc/self/fd /root/dev/fd
ulimit -c 0
# Kernel symbols are visible to everyone in the guest.
echo 0 >/proc/sys/kernel/kptr_restrict
mkdir -p /root/root

inside() {
  chroot /root /usr/bin/env -i "PATH=$JOB_PATH" HOME=/root TERM="$JOB_TERM" LC_ALL=C.UTF-8 \
    /bin/bash -c 'cd "$1" && shift && exec "$@"' guest "$TREE" "$@"
}

: >/job/up
if [ -e /job/run ]; then
  cp /job/run /root/run/job
  inside /bin/bash /run/job </dev/null >/job/stdout 2>/job/stderr
  echo $? >/job/status.new
  mv /job/status.new /job/status
else
  inside /usr/bin/setsid --ctty --wait /bin/bash -i <"/dev/$CONSOLE" >"/dev/$CONSOLE" 2>&1
  echo $? >/job/status
fi
sync
poweroff -f
