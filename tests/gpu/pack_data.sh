#!/usr/bin/env bash
# Copies MNIST's files into FOLDER/mnist, from where Sterna looks for data; where it is not there the jobs
# of the archive train on drawn digits.
#   pack_data.sh FOLDER
set -euo pipefail
from=${STERNA_DATA:-$HOME/.cache/sterna}/mnist
mkdir -p "$1"
if [[ ! -d $from ]]; then
  echo "gpu_tests: no MNIST in $from; its jobs will train on drawn digits"
  exit
fi
cp -rL "$from" "$1/mnist"
chmod -R u+w "$1/mnist"
