# $1 path, $2 from or empty, $3 to or empty
p=$1
size() { g cat-file -s "$1" 2>/dev/null || echo -1; }
filter=$(g check-attr filter -- "$p" | tail -n 1 | sed 's/.*: //')
case "$keys" in
  *"filter.$filter."*) ;;
  *) filter= ;;
esac
out filter 200 printf %s "$filter"
now=-1
if [ -L "./$p" ]; then now=0; elif [ -f "./$p" ]; then now=$(stat -c %s "./$p"); fi
was=$(size "HEAD:$p")
out now 100 printf %s "$now"
out was 100 printf %s "$was"
out mark 200 mark
out head 100 printf %s "$(g rev-parse --verify --quiet "HEAD:$p")"
kind=
if [ -n "$(g ls-files --unmerged -- "$p" | head -n 1)" ]; then kind=conflict
elif [ -d "./$p" ] && [ ! -L "./$p" ]; then kind=submodule
elif [ "$now" -gt 8388608 ] || [ "$was" -gt 8388608 ] || [ "$(size ":0:$p")" -gt 8388608 ]; then kind=large; fi
out kind 100 printf %s "$kind"
[ "$kind" != large ] || exit 0
most=2200000
if [ -n "$2" ]; then
  if [ -n "$3" ]; then out unstaged $most g diff $plain --binary -U3 "$2" "$3" -- "$p"
  else printf '%s\0' "$p" | { other_index; out unstaged $most g diff $plain --binary -U3 "$2" -- "$p"; } || exit 1; fi
  exit 0
fi
if [ "$kind" = conflict ]; then
  out unstaged $most g diff $plain -U3 --ours -- "$p"
  exit 0
fi
out staged $most g diff $plain --cached --binary -U3 -- "$p"
if [ -z "$(g ls-files -- "$p" | head -n 1)" ] && { [ -f "./$p" ] || [ -L "./$p" ]; }; then
  printf '%s\0' "$p" | { other_index; out unstaged $most g diff $plain --binary -U3 -- "$p"; }
else
  out unstaged $most g diff $plain --binary -U3 -- "$p"
fi
