# What jobs and ways share: cluster files of LeNet with two ranks on a card, their runs and what is
# found of them. To be sourced; wants $here, where bin/sterna with its module and data/mnist lie.
# Ends with 77 where there is no GPU.
sterna=${STERNA_BINARY:-$here/bin/sterna}
export STERNA_DATA=${STERNA_DATA:-$here/data}
nvidia-smi -L >/dev/null 2>&1 || { echo "skipped: no GPU" && exit 77; }
# The devices are those that CUDA_VISIBLE_DEVICES numbers, or all. Cluster files number a host's own.
IFS=, read -ra visible <<<"${CUDA_VISIBLE_DEVICES:-$(nvidia-smi --query-gpu=index --format=csv,noheader | paste -sd,)}"
cards=${#visible[@]} card=${visible[0]}
gpus=$(($(printf '%s\n' "${visible[@]}" | sort -n | tail -n 1) + 1))
unset CUDA_VISIBLE_DEVICES
data=digits least=0
[[ ! -d $STERNA_DATA/mnist ]] || data=mnist least=0.985
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 found=

say_ok() { printf 'ok      %s\n' "$1"; }
say_failed() { printf 'FAILED  %s\n' "$1" && failed=$((failed + 1)); }
# A figure for the JSON: a key, and what is JSON already.
note() { found+="${found:+,}\"$1\": $2"; }

# A cluster file of LeNet on MNIST with two ranks.
file() { # NAME STEPS GRADIENT ACTORS...
  local name=$1 steps=$2 gradient=$3 actor
  {
    printf 'format = 1\n[job]\nnet = "lenet"\nsteps = %s\nbatch = 32\nseed = 1\n' "$steps"
    printf '[data]\nname = "%s"\n[optimizer]\nname = "momentum"\nlearning_rate = 0.01\n' $data
    printf 'schedule = "polynomial"\n[[host]]\nname = "localhost"\ngpus = %s\n[gradient]' "$gpus"
    printf '\nmin_size = 1\n%b\n' "$gradient"
    printf '[evaluator]\nevery = 0\n[[actor]]\nrole = "input_reader"\n'
    printf '[[actor]]\nrole = "evaluator"\n'
    for actor in "${@:4}"; do printf '[[actor]]\n%b\n' "$actor"; done
  } >"$work/$name.toml"
}
server='role = "parameter_server"'
worker='role = "worker"\nrestart = 0\n'

field() { # NAME FIELD: of a run's result, the last of that name
  grep -oE "\"$2\":\"?[^\",}]*" "$work/$1/result.json" 2>/dev/null | tail -n 1 | sed 's/^[^:]*:"\{0,1\}//'
}
train() { # NAME [OPTION...]
  local begin=$SECONDS
  (cd "$work" && timeout 240 "$sterna" run "$1.toml" --run-dir "$1" "${@:2}") >"$work/$1.out" 2>&1 && {
    echo "        $1: precision@1 $(field "$1" precision_at_1), $(field "$1" parameters_sha256 | cut -c 1-12), $((SECONDS - begin)) s"
    # Then each piece of a pass is launched by itself, in every step.
    ! grep -oE 'no recorded pass: [^"]*' "$work/$1/result.json" || return 1
    return 0
  }
  tail -n 12 "$work/$1.out"
  grep -rhB 40 '^crashed: ' "$work/$1/logs" 2>/dev/null # which thread, and above that its calls
  return 1
}
one_hash() { # WHAT NAME...: the same parameters at all their ends
  local name hashes
  hashes=$(for name in "${@:2}"; do field "$name" parameters_sha256; done | sort -u)
  if [[ -n $hashes && $(wc -l <<<"$hashes") == 1 ]]; then say_ok "$1"; else say_failed "$1"; fi
}
# The verdict, and the figures as JSON into FILE, if any.
finish() { # FILE
  [[ -z $1 ]] || printf '{%s, "failed": %d}\n' "$found" "$failed" >"$1"
  if ((failed == 0)); then echo "all is well"; else echo "$failed failed"; fi
  exit $((failed > 0))
}
