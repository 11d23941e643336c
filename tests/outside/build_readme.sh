#!/usr/bin/env bash
# Does what the README's chapter "The runtime by itself" says, from its text alone.
# usage: build_readme.sh SOURCE BUILD   exits 77 (skipped) without the right to make namespaces
set -euo pipefail
source=$1 build=$2
. "$source/tests/outside/outside.sh"
into=$(mktemp -d)
trap 'rm -rf "$into"' EXIT
follow README.md "The runtime by itself" CMakeLists.txt counter.capnp counter.toml main.cc
says "the program counts" $'\n42\n'
says "sterna run says what the actors are doing" $'\nrunning, 3 actors: '
says "it says what one logs" ': the counter is at 41'
says "it says what the other one logs" ': the counter is at 42'
says "it says that they have ended" $'\nadder1 has ended\n'
says "it ends when they have" '2 of 3 actors have ended, as program.done_when asks, and the others were stopped; everything is in run'
said=$(cat "$into/project/run/result.json")
says "its result is a success" '"exit":0,'
says "the result says who was waited for" '"awaited":\["adder0","adder1"\]'
says "the result says how the counter ended" \
  '{"name":"counter0","type":"counter","host":"localhost","end":"stopped"}'
says "the result says how the adders ended" \
  '{"name":"adder1","type":"adder","host":"localhost","end":"done"}'
