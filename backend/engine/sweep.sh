# shellcheck shell=sh
# Lists the processes of a terminal, and sends them signals: sweep.sh MARK "SIGNAL…" [SESSION…]
#
# Builtins only: a foreign container may have a shell and nothing else. read drops
# the zero bytes of an environment in every shell. A line is "pid session name";
# the last one says that none is missing.
LC_ALL=C
mark=$1 signals=$2
shift 2
sessions=" $* "
for dir in /proc/[0-9]*; do
  pid=${dir#/proc/}
  [ "$pid" != $$ ] || continue
  line=
  { IFS= read -r line <"$dir/stat"; } 2>/dev/null
  [ -n "$line" ] || continue
  rest=${line##*) }
  name=${line#*(}
  name=${name%)*}
  set -f
  # shellcheck disable=SC2086 # fields
  set -- $rest
  set +f
  case $1 in Z | X) continue ;; esac
  session=$4
  hit=
  case $sessions in *" $session "*) hit=1 ;; esac
  if [ -z "$hit" ]; then
    {
      while IFS= read -r line || [ -n "$line" ]; do
        case $line in *"LOOP_TERMINAL=$mark"*)
          hit=1
          break
          ;;
        esac
      done <"$dir/environ"
    } 2>/dev/null
  fi
  [ -n "$hit" ] || continue
  echo "$pid $session $name"
  for signal in $signals; do
    kill -s "$signal" "$pid" 2>/dev/null
  done
done
echo swept
