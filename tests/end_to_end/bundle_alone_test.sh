#!/usr/bin/env bash
# The bundle runs where there is nothing but glibc and a shell: no packages, no /usr.
# usage: bundle_alone_test.sh BUNDLE     exits 77 (skipped) without the right to make namespaces
set -euo pipefail
if [[ ${1-} != --within ]]; then
  as_root=()
  ((EUID == 0)) || as_root=(--map-root-user)
  unshare "${as_root[@]}" -m -p -f true 2>/dev/null ||
    { echo "SKIPPED: this user may not make namespaces"; exit 77; }
  root=$(mktemp -d)
  trap 'rmdir "$root"' EXIT
  timeout -k 5 60 unshare "${as_root[@]}" -m -p -f "$BASH" "$0" --within "$root" "$1"
  exit
fi

root=$2 bundle=$3
mount -t tmpfs none "$root"
mkdir -p "$root"/{bin,dev,etc,home,lib,lib64,opt,proc,tmp}
mount -t proc proc "$root/proc"
touch "$root"/dev/{null,urandom}
mount --bind /dev/null "$root/dev/null"
mount --bind /dev/urandom "$root/dev/urandom"
cp "$(readlink -f /bin/sh)" "$root/bin/sh"
loader=/lib64/ld-linux-x86-64.so.2
glibc=$(ldd /bin/sh | sed -n 's|.*libc\.so\.6 => \(.*\)/libc\.so\.6 .*|\1|p')
cp -L "$loader" "$root$loader"
for library in c m mvec dl rt pthread resolv util anl; do
  cp -L "$glibc"/lib$library.so.[0-9] "$root/lib/"
done
cp -r "$bundle" "$root/opt/bundle"

cat >"$root/home/smallest.toml" <<'END'
format = 1
[[actor]]
role = "parameter_server"
[[actor]]
role = "worker"
[[actor]]
role = "input_reader"
[[actor]]
role = "evaluator"
[job]
net = "lenet"
steps = 5
END
alone() { chroot "$root" /bin/sh -c "export HOME=/home PATH=/opt/bundle/bin; cd /home; $1"; }
status=0
holds() { # what, command
  echo "--- $1: $2"
  alone "$2" || { echo "FAILED with $?"; status=1; }
}
holds "every library is found" "sterna --version"
holds "it knows its hash, here as there" "[ \$(sterna __bundle-hash) = $("$bundle/bin/sterna" __bundle-hash) ]"
holds "it checks a file" "sterna check smallest.toml"
holds "it trains" "sterna run smallest.toml --set data.name=digits"
exit $status
