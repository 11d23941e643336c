# What can be wrong with a host of `hosts`, one at a time, and how it is put right; sourced by it.
# All work on the open host (`name`, `own`, `cable`, `dir`).

shape() { # RATE, or none; up: of what leaves the host, down: of what comes to it, else both
  local where
  for where in "-n $cable:eth0" ":$cable"; do
    [[ ${2-} != down || $where == :* ]] && [[ ${2-} != up || $where != :* ]] || continue
    if [[ $1 == none ]]; then
      # shellcheck disable=SC2086  # "-n NAMESPACE" is two words, or none
      tc ${where%:*} qdisc del dev "${where##*:}" root 2>/dev/null || true
    else
      # The burst takes a whole segment that the kernel has not cut yet (64 KB), twice.
      # shellcheck disable=SC2086
      tc ${where%:*} qdisc replace dev "${where##*:}" root tbf rate "$1" burst 128kb latency 50ms
    fi
  done
}

cut_off() { # nothing, or of what comes to it or leaves it
  case ${1-} in
    '') ip link set "$cable" down ;;
    in | out)
      enter nft "add table inet parted; add chain inet parted drops { type filter hook ${1}put priority 0; policy drop; };
        add rule inet parted drops meta $([[ $1 == in ]] && echo iifname || echo oifname) lo accept"
      ;;
    *) usage ;;
  esac
}

mend() {
  enter nft delete table inet parted 2>/dev/null || true
  ip link set "$cable" up
  await_link
}

# A path inside the host, as it is reached from outside.
inside() { echo "/proc/$(init_pid)/root$1"; }

sshd_pid() { cat "$(inside /run/sshd.pid)"; }
# Started anew with another configuration: sessions that are open go on.
restart_sshd() { # KEY, then lines of sshd_config that win over the usual ones
  local deadline=$((SECONDS + 10)) pid_file pid
  pid_file=$(inside /run/sshd.pid)
  pid=$(<"$pid_file")
  write_sshd_config "$(inside /etc/ssh/sshd_config)" "$(address_of "$name")" "$@"
  rm "$pid_file"
  enter kill -HUP "$pid"
  until [[ -s $pid_file ]]; do
    ((SECONDS < deadline)) || die "the sshd of $name does not come back"
    sleep 0.02
  done
}

break_host() { # WHAT…
  local used
  case $1 in
    banner) echo 'echo "Welcome to $(hostname). Today is a fine day."' >"$own/disk/root/.bashrc" ;;
    password) restart_sshd host_key 'PubkeyAuthentication no' 'PasswordAuthentication yes' 'PermitRootLogin yes' ;;
    hostkey) restart_sshd other_host_key ;;
    diskfull)
      used=$(df --output=used -k "$own/disk" | tail -n 1)
      mount -o "remount,size=$((used + 64))k" "$own/disk"
      ;;
    slow) enter kill -STOP "$(sshd_pid)" ;; # connections open, and nobody speaks
    names) echo '127.0.0.1 localhost' >"$(inside /etc/hosts)" ;;
    port) # FROM PORTS: a firewall here drops what comes from that host for these ports
      (($# == 3)) || usage
      enter nft "add table inet broken; add chain inet broken in { type filter hook input priority 0; };
        add rule inet broken in ip saddr $(address_of "$2") tcp dport $3 drop"
      ;;
    *) usage ;;
  esac
}

fix_host() {
  enter kill -CONT "$(sshd_pid)"
  enter nft delete table inet broken 2>/dev/null || true
  mount -o "remount,size=$disk_size" "$own/disk"
  rm -f "$own/disk/root/.bashrc"
  cat "$own/etc/hosts" >"$(inside /etc/hosts)"
  restart_sshd host_key
}
