# shellcheck shell=bash
# Sourced by test.sh: stages that run side by side, and the report on them.
#
# A lane is a list of stages that run one after the other. Two lanes share the
# computer: the engine's stages mostly wait, the others compute. With stages of one
# lane only, their output is shown as it comes; with both, a stage's output is shown
# whole when it ends.

stages='' engine_lane='' compute_lane='' # test.sh says which
logs=$CACHE/log                           # a stage's STAGE.out and, once it has ended, STAGE.result
live=1                                    # output is shown as it comes
lanes=''                                  # processes of those that run

# A stage that fails ends its lane if the rest of the lane builds on it.
needed='setup build image'

contains() { case " $1 " in *" $2 "*) return 0 ;; *) return 1 ;; esac }

# run_stage STAGE: runs it as a process of its own, so that errexit holds in it, and
# leaves its output, then its seconds and exit code, in files.
run_stage() {
  local began=$SECONDS code=0
  if [ "$live" = 1 ]; then
    step "Stage $1"
    "$0" _stage "$1" 2>&1 | tee "$logs/$1.out" || code=${PIPESTATUS[0]}
  else
    note "Stage $1 begins"
    "$0" _stage "$1" >"$logs/$1.out" 2>&1 </dev/null || code=$?
  fi
  printf '%s %s\n' $((SECONDS - began)) "$code" >"$logs/$1.new"
  mv "$logs/$1.new" "$logs/$1.result"
  return "$code"
}

# lane STAGE…: runs the wanted ones, in order.
lane() {
  local s
  for s in "$@"; do
    contains "$stages" "$s" || continue
    run_stage "$s" || if contains "$needed" "$s"; then return 1; fi
  done
}

# show STAGE: its output as one block, once it has ended.
show() {
  [ "$live" = 0 ] || return 0
  step "Stage $1"
  cat "$logs/$1.out"
}

# both_lanes runs the lanes side by side and shows each stage that ends. Each lane is
# a process group, so that a signal reaches all of it.
both_lanes() {
  local s pid shown='' going=1
  lanes=''
  set -m
  # shellcheck disable=SC2086 # lists of stages
  { lane $engine_lane & } 2>/dev/null
  lanes=$!
  # shellcheck disable=SC2086
  { lane $compute_lane & } 2>/dev/null
  lanes="$lanes $!"
  set +m
  while [ $going = 1 ]; do
    going=0
    for pid in $lanes; do
      if kill -0 "$pid" 2>/dev/null; then going=1; fi
    done
    for s in $stages; do
      if contains "$shown" "$s" || [ ! -f "$logs/$s.result" ]; then continue; fi
      shown="$shown $s"
      show "$s"
    done
    if [ $going = 1 ]; then sleep 0.5; fi
  done
  lanes=''
}

# end_lanes stops the stages that still run.
end_lanes() {
  local pid
  for pid in $lanes; do kill -TERM -- "-$pid" 2>/dev/null || true; done
  for pid in $lanes; do wait "$pid" 2>/dev/null || true; done
}

# failures prints what each stage that failed says of it, at most 60 lines: between the
# thousands of lines before, nobody finds them.
failures() {
  local s code
  for s in $stages; do
    [ -f "$logs/$s.result" ] || continue
    read -r _ code <"$logs/$s.result"
    [ "$code" != 0 ] || continue
    step "What failed in the stage $s"
    if grep -qaE '^(FAIL|--- FAIL|panic:|=== FAIL)|Loop: ' "$logs/$s.out"; then
      grep -aE -A 9 '^(FAIL|--- FAIL|panic:|=== FAIL)|Loop: ' "$logs/$s.out" | grep -avE '^(ok|\?) ' | head -n 60
    else
      tail -n 30 "$logs/$s.out"
    fi
  done
}

# stage_table prints the outcome of each stage, and fails if one did not pass.
stage_table() {
  local s seconds code all_well=0
  step "Stages"
  for s in $stages; do
    if [ -f "$logs/$s.result" ]; then
      read -r seconds code <"$logs/$s.result"
      if [ "$code" = 0 ]; then
        printf '    %-10s %4d s  ok\n' "$s" "$seconds"
        continue
      fi
      printf '    %-10s %4d s  FAILED\n' "$s" "$seconds"
    else
      printf '    %-10s    –    not run\n' "$s"
    fi
    all_well=1
  done
  printf '    %-10s %4d s\n' total $SECONDS
  return $all_well
}
