#!/usr/bin/env bash
# Measures the cost of --drain for an application: mean and spread over interleaved pairs of runs of
# the demo on a simulated board with a 16 MB disk.
# drain_overhead.sh BUILD_DIR [PAIRS [IMAGES]]
# Requires an idle machine, a fallocate with -p (util-linux), and everything that
# `scripts/demo-board --disk` requires.
set -euo pipefail
build=$(cd "${1:?usage: drain_overhead.sh BUILD_DIR [PAIRS [IMAGES]]}" && pwd)
pairs=${2:-8}
images=${3:-1500}
root=$(cd "$(dirname "$0")/../.." && pwd)
[ -x "$build/apps/demo_board/main" ] || { echo "drain_overhead.sh: $build/apps/demo_board/main is not built" >&2; exit 4; }
work=$(mktemp -d)
board=
finish() {
  [ -z "$board" ] || { kill "$board" 2>/dev/null && wait "$board" 2>/dev/null; } || :
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

"$root/scripts/demo-board" dropbear --gnu --disk 16M --folder "$work/board" >"$work/board.log" 2>&1 &
board=$!
for ((i = 0; i < 600; i++)); do
  [ ! -f "$work/board/board.ini" ] || break
  kill -0 "$board" 2>/dev/null || { cat "$work/board.log" >&2; exit 4; }
  sleep 0.1
done

# Seconds of the application only, measured by the local clock.
run() { # OPTION…
  (cd "$build/apps/demo_board" && HOME=$work "$build/apps/msprof/msprof" collect -m main --config "$work/board/board.ini" \
    --host-key accept-new --no-tty --output "$work/out" "$@" -- --images "$images" 2>"$work/log" >/dev/null) ||
    { cat "$work/log" >&2; exit 1; }
  sed -n 's/^main exited with code 0 (\([0-9.]*\) s)$/\1/p' "$work/log"
  rm -rf "$work/out"
}

run --drain >/dev/null
for ((i = 0; i < pairs; i++)); do
  # Each order occurs equally often, so that a machine that slows down favours neither.
  if ((i % 2 == 0)); then with=$(run --drain) without=$(run); else without=$(run) with=$(run --drain); fi
  echo "$with $without"
done | tee /dev/stderr | awk '
  { o = ($1 / $2 - 1) * 100; s += o; q += o * o; seconds += $2; a[NR] = o }
  END {
    if (NR == 0) exit 1
    mean = s / NR; spread = NR > 1 ? sqrt((q - NR * mean * mean) / (NR - 1)) : 0
    n = asort_(a, NR); median = n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
    printf "--drain: mean %.2f %%, median %.2f %%, standard deviation %.2f (%d pairs of %.1f s)\n", mean, median, spread,
           NR, seconds / NR
  }
  function asort_(v, n,   i, j, t) {
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n
  }'
