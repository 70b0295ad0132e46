#!/bin/sh
# Overhead of profiling on a model whose layers take at least 100 us: mean and spread over
# interleaved pairs of runs of the demo.
# runtime_overhead.sh BUILD_DIR [PAIRS]
set -eu
build=${1:?usage: runtime_overhead.sh BUILD_DIR [PAIRS]}
pairs=${2:-12}
demo=$build/apps/demo_board/main
[ -x "$demo" ] || { echo "runtime_overhead.sh: $demo is not built" >&2; exit 4; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

layers=30
# 3 x 3 convolutions of 16 channels at 36 x 36: 3 million multiply-accumulates each.
awk -v n=$layers 'BEGIN {
  printf "{\"format\":\"msprof-model\",\"version\":1,\"name\":\"overhead\",\"inputs\":[{\"name\":\"l0\",\"shape\":[16,36,36]}],\"layers\":["
  for (i = 1; i <= n; i++)
    printf "%s{\"name\":\"l%d\",\"type\":\"Conv2D\",\"inputs\":[\"l%d\"],\"out_channels\":16,\"kernel\":3,\"pad\":1}", (i > 1 ? "," : ""), i, i - 1
  print "]}"
}' >"$work/model.json"
for state in on off; do
  printf '{"profiler":{"switch":"%s","output":"%s","aic_metrics":"ArithmeticUtilization","aicpu":"on","acl_api":"on"}}' \
    $state "$work" >"$work/$state.json"
done

# Median milliseconds of one execution.
run() {
  MSPROF_ACL_JSON="$work/$1.json" "$demo" --model "$work/model.json" --images 150 |
    sed -n 's/.*median \([0-9.]*\) ms.*/\1/p'
}

run on >/dev/null
i=0
while [ $i -lt "$pairs" ]; do
  # Each order occurs equally often, so that a machine that slows down favours neither.
  if [ $((i % 2)) -eq 0 ]; then on=$(run on) off=$(run off); else off=$(run off) on=$(run on); fi
  echo "$on $off"
  rm -rf "$work"/JOB*
  i=$((i + 1))
done | awk -v layers=$layers '
  { o = ($1 / $2 - 1) * 100; s += o; q += o * o; off += $2
    if (NR == 1 || o < low) low = o
    if (NR == 1 || o > high) high = o }
  END {
    if (NR == 0) exit 1
    mean = s / NR; spread = NR > 1 ? sqrt((q - NR * mean * mean) / (NR - 1)) : 0
    printf "profiling overhead: mean %.2f %%, standard deviation %.2f, from %.2f to %.2f (%d pairs, %.0f us a layer)\n",
           mean, spread, low, high, NR, off / NR * 1000 / layers
  }'
