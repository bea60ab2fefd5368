# shellcheck shell=sh
# Lists the processes of a terminal, and sends them signals: sweep.sh MARK "SIGNAL…" quick|alone [SESSION…]
#
# A foreign container may have a shell and nothing else, or no process left to
# give. So what reads environments is grep if there is one, which is quick and
# exact; a shell alone ("alone", and when there is no grep) reads each byte for
# itself, drops the zero bytes between variables, and takes seconds for megabytes.
#
# Names of processes are their own choice and may hold brackets and line ends: a
# number counts only where the kernel wrote it. A line is "pid session name";
# "unsure" says that a process went away meanwhile, which may have started another;
# the last line says that none is missing.
LC_ALL=C
mark=$1 signals=$2 how=$3
shift 3
sessions=" $* "
line_end='
'
marked='' unsure=''
if [ "$how" = quick ]; then
  # Its own environment matches, too: that shows that it can do this.
  marked=$(LOOP_SWEEP=$$ && export LOOP_SWEEP && exec grep -lszxF -e "LOOP_TERMINAL=$mark" -e "LOOP_SWEEP=$$" /proc/[0-9]*/environ 2>/dev/null)
  [ -n "$marked" ] || how=alone
fi
for dir in /proc/[0-9]*; do
  pid=${dir#/proc/}
  [ "$pid" != $$ ] || continue
  line=
  {
    while IFS= read -r part || [ -n "$part" ]; do
      line="$line$part "
    done <"$dir/stat"
  } 2>/dev/null
  if [ -z "$line" ]; then
    [ -d "$dir" ] || unsure=1
    continue
  fi
  rest=${line##*) }
  name=${line#*(}
  name=${name%)*}
  set -f
  # shellcheck disable=SC2086 # fields
  set -- $rest
  set +f
  case $1 in Z | X) continue ;; esac
  group=$3 session=$4
  case $group:$session in :* | *: | *[!0-9:]*) continue ;; esac
  hit=
  case $sessions in *" $session "*) hit=1 ;; esac
  if [ -z "$hit" ] && [ "$how" = quick ]; then
    case $line_end$marked$line_end in *"$line_end$dir/environ$line_end"*) hit=1 ;; esac
  elif [ -z "$hit" ]; then
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
  case $name in *[!A-Za-z0-9._:/@+\ -]*) name='?' ;; esac
  echo "$pid $session $name"
  for signal in $signals; do
    # A group is hit in one step, which nothing that forks in it escapes; it lies
    # within its session. The first process of a container is not in ours.
    case $signal:$group:$session in
      KILL:[01]:* | KILL:*:[01]) ;;
      KILL:*) kill -KILL "-$group" 2>/dev/null ;;
    esac
    kill -s "$signal" "$pid" 2>/dev/null
  done
done
[ -z "$unsure" ] || echo unsure
echo swept
