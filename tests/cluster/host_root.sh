#!/usr/bin/env bash
# Becomes one emulated host: the first process of its namespaces builds the host's root file system,
# moves into it and stays as its init, which starts sshd and reaps orphans.
# usage: host_root.sh DIR HOST    (by `hosts up`, inside the new namespaces)
#
# Everything is named that the host has: a file system of its own, the programs of /usr, and of the
# libraries those that `hosts` laid into DIR/lib. So it sees no checkout, no build, no other home,
# and none of the libraries of a development machine.
set -euo pipefail
dir=$1 name=$2
own=$dir/hosts/$name
root=$own/root

read_only() { # FROM TO: bound without what is mounted below
  mount --bind "$1" "$2"
  mount -o remount,bind,ro "$2"
}

hostname "$name"
mount -t tmpfs -o mode=755,size=64m "$name" "$root"
cd "$root"
mkdir -p usr proc sys dev etc/ssh tmp run/sshd root home var/log var/tmp old

read_only /usr usr
for folder in bin sbin lib lib32 lib64 libx32; do # links into /usr, or folders where it is not merged
  if [[ -L /$folder ]]; then
    cp -P "/$folder" .
  elif [[ -d /$folder ]]; then
    mkdir "$folder"
    read_only "/$folder" "$folder"
  fi
done
read_only "$dir/lib" ".$(<"$dir/library_folder")"
for folder in usr/local usr/src; do
  [[ ! -d $folder ]] || mount -t tmpfs -o ro,mode=755 none "$folder"
done

mount -t proc proc proc
mount -t sysfs -o ro sys sys
mount -t tmpfs -o mode=755,size=1m dev dev
mkdir dev/pts dev/shm
for node in null zero full random urandom tty; do
  touch dev/$node
  mount --bind /dev/$node dev/$node
done
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr
mount -t tmpfs -o mode=1777 shm dev/shm
mount -t tmpfs -o mode=1777 tmp tmp

# What outlives a loss of power is on the host's disk.
mount --bind "$own/disk/root" root
mount --bind "$own/disk/home" home
mount --bind "$own/disk/var_tmp" var/tmp

cp "$own"/etc/* etc/
cp "$own"/ssh/* etc/ssh/
chmod 600 etc/ssh/host_key etc/ssh/other_host_key etc/shadow
mkdir etc/alternatives
[[ ! -d /etc/alternatives ]] || read_only /etc/alternatives etc/alternatives

cat >etc/init <<'INIT'
/usr/sbin/sshd -D -E /var/log/sshd.log &
while :; do # bash reaps who ends while it waits
  sleep infinity &
  wait $!
done
INIT

pivot_root . old
cd /
umount -l old
rmdir old
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
  bash /etc/init
