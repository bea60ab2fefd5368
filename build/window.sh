# shellcheck shell=bash
# Sourced by window-test.sh and day.sh: the real window on a virtual display, its keys, its
# pictures, and the API that instance.json names. The caller sets where pictures go, and
# how many seconds it waits for one thing and until keys are pressed once more.
: "${out:?}" "${patience:?}" "${again:?}"
channel='' # the caller says which

[ -x "$BIN/loop-desktop" ] || die "There is no build/bin/loop-desktop." "Run: make build"
tmp=$(mktemp -d /tmp/loop-window.XXXXXX)
mkdir -p "$out" "$tmp/home" "$tmp/runtime"
chmod 700 "$tmp/runtime"
xvfb='' app='' helper='' # helper: what else the caller started

# end PID: ask, wait, insist.
end() {
  local deadline=$((SECONDS + 15))
  [ -n "$1" ] && kill -TERM "$1" 2>/dev/null || return 0
  while kill -0 "$1" 2>/dev/null; do
    [ $SECONDS -lt $deadline ] || kill -KILL "$1" 2>/dev/null || true
    sleep 0.1
  done
}

# shellcheck disable=SC2317 # the trap calls it
finish() {
  local code=$?
  trap - EXIT
  if [ $code != 0 ]; then
    [ -z "${DISPLAY:-}" ] || import -window root "$out/failure.png" 2>/dev/null || true
    warn "The last picture is $out/failure.png; the app's words:"
    tail -n 40 "$tmp/app.log" >&2 2>/dev/null || true
    tail -n 40 "$tmp/home/loop.log" >&2 2>/dev/null || true
  fi
  # The app keeps containers for five minutes. They are asked from it while it still
  # runs, and removed by their ids.
  local id
  note_containers 2>/dev/null || true
  # The app itself, so that it closes in order; dbus-run-session ends with it.
  end "$(field pid 2>/dev/null || true)"
  end "$app"
  end "$helper"
  end "$xvfb"
  touch "$tmp/containers"
  sort -u "$tmp/containers" | while read -r id; do
    [ -z "$id" ] || DOCKER_HOST=$(build/engine.sh status) docker rm --force --volumes "$id" >/dev/null || true
  done
  rm -rf "$tmp"
  exit $code
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# field NAME: of instance.json.
field() { node -e 'const i=JSON.parse(require("fs").readFileSync(process.argv[1],"utf8"));console.log(i[process.argv[2]])' "$tmp/home/instance.json" "$1"; }

# call METHOD ARGS: a method of the API, as JSON.
call() {
  curl -fsS -m 120 -H "Authorization: Bearer $(field token)" -H 'Content-Type: application/json' \
    --data "$2" "$(field url)api/call/$1"
}

note_containers() {
  call System.ListContainers '[]' | node -pe 'JSON.parse(require("fs").readFileSync(0,"utf8")).map(c=>c.container_id).join("\n")' >>"$tmp/containers"
}

# await WHAT COMMAND…: until the command succeeds.
await() {
  local what=$1 deadline=$((SECONDS + patience))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || die "Waited $patience s for this in vain: $what."
    [ -z "$app" ] || kill -0 "$app" 2>/dev/null || die "The app ended while waiting for this: $what."
    sleep 0.2
  done
}

picture() {
  import -window root "$out/$1.png"
  note "Picture: $out/$1.png"
}

# says METHOD ARGS EXPRESSION: whether the answer r satisfies a JavaScript expression.
says() {
  call "$1" "$2" | node -e 'let s="";process.stdin.on("data",d=>s+=d).on("end",()=>{const r=JSON.parse(s);process.exit(eval(process.argv[1])?0:1)})' "$3"
}

step "Virtual display"
mkfifo "$tmp/display"
# -noreset: else the server starts over when its last client leaves, and lets nobody in
# meanwhile; Loop is closed and opened again here.
Xvfb -noreset -displayfd 3 -screen 0 1280x820x24 -nolisten tcp 3>"$tmp/display" >"$tmp/xvfb.log" 2>&1 &
xvfb=$!
read -r -t 120 number <"$tmp/display" || die "Xvfb did not start: $(tail -n 1 "$tmp/xvfb.log")"
export DISPLAY=:$number

# desktop COMMAND…: the app in its surroundings.
desktop() {
  env -u WAYLAND_DISPLAY LOOP_HOME="$tmp/home" XDG_RUNTIME_DIR="$tmp/runtime" NO_AT_BRIDGE=1 GDK_BACKEND=x11 \
    WEBKIT_DISABLE_DMABUF_RENDERER="${WEBKIT_DISABLE_DMABUF_RENDERER-1}" LIBGL_ALWAYS_SOFTWARE=1 \
    "$@" >>"$tmp/app.log" 2>&1 </dev/null
}
visible() { xdotool search --onlyvisible --name 'Loop$'; } # the channel stands before it
hidden() { ! visible; }
take_window() {
  await "the window" visible
  window=$(visible | head -n 1)
  xdotool windowfocus "$window" # there is no window manager to do it
}
open_window() {
  desktop dbus-run-session -- "$BIN/loop-desktop" &
  app=$!
  await "instance.json" test -s "$tmp/home/instance.json"
  await "the API" call System.Snapshot '[]'
  take_window
  await "the engine and the image" says System.Snapshot '[]' 'r.engine.ok && r.image.state === "ready"'
}

# The page does not show when its keys begin to work, so the keys are repeated until
# the channel is there. A second time does no harm, so it comes soon.
ask_demo() {
  xdotool key --clearmodifiers Escape
  xdotool key --clearmodifiers ctrl+shift+p
  xdotool type --delay 20 demo
  xdotool key Return
  local deadline=$((SECONDS + 5))
  until says Channels.List '[]' 'r.some(c => c.kind === "demo")'; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.2
  done
}

# ask_prompt TEXT
ask_prompt() {
  xdotool key --clearmodifiers ctrl+l
  xdotool key --clearmodifiers ctrl+a
  xdotool type --delay 15 "$1"
  xdotool key Return
  local deadline=$((SECONDS + again))
  until says Channels.History "[\"$channel\",\"\",5]" "r.includes('$1')"; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.2
  done
}

keys() { xdotool key --clearmodifiers "$@"; }
# palette: what is where the palette has its field. found: where it lists what it finds.
palette() { import -window root -crop 500x30+390+106 rgba:- | md5sum; }
found() { import -window root -crop 500x200+390+150 rgba:- | md5sum; }
# command_by_name NAME: by the palette.
command_by_name() {
  local deadline=$((SECONDS + 20)) before
  before=$(palette)
  xdotool key --clearmodifiers ctrl+shift+p
  until [ "$(palette)" != "$before" ] || [ $SECONDS -ge $deadline ]; do sleep 0.2; done
  sleep 0.5 # it takes keys once it is drawn
  xdotool type --delay 20 "$1"
  local last='' now same=0 # a busy computer draws what was typed later, and Return takes what is first by then
  until [ $same = 3 ] || [ $SECONDS -ge $deadline ]; do
    now=$(found)
    if [ "$now" = "$last" ]; then same=$((same + 1)); else same=0; fi
    last=$now
    sleep 0.2
  done
  xdotool key Return
}
# ask_script PROMPT SCRIPT: a prompt that a script of the demo answers.
ask_script() {
  xdotool key --clearmodifiers ctrl+l
  xdotool key --clearmodifiers ctrl+a
  xdotool type --delay 15 "$1"
  xdotool key shift+Return
  xdotool type --delay 15 "demo:$2"
  xdotool key Return
  local deadline=$((SECONDS + again))
  until says Channels.History "[\"$channel\",\"\",5]" "r.some(p => p.includes('$1'))"; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.2
  done
}

# held EXPRESSION: one question waits, a, of which the expression is true.
held() { says Gate.Pending '[]' "r.length === 1 && ((a) => $1)(r[0])"; }
asks() { xdotool search --onlyvisible --name '^Loop asks$'; }
no_dialog() { ! asks; }
# take_dialog NAME: it has the keyboard, is in a picture, and listens.
take_dialog() {
  await "the dialog" asks
  dialog=$(asks | head -n 1)
  xdotool windowfocus "$dialog"
  sleep 1 # it is deaf for half of that
  picture "$1"
}
# click_dialog SIXTH: the middle of a button, in sixths of the width: 1 allows, 3 denies, 5 reviews.
click_dialog() {
  local X Y WIDTH HEIGHT
  eval "$(xdotool getwindowgeometry --shell "$dialog")"
  xdotool mousemove $((X + WIDTH * $1 / 6)) $((Y + HEIGHT - 27)) click 1
}

# opened N COMMAND…: repeats the command until there are N sessions that run.
opened() {
  local n=$1 deadline
  shift
  if says Terminals.List "[\"$channel\"]" "r.length < $n"; then "$@"; fi
  deadline=$((SECONDS + again))
  until says Terminals.List "[\"$channel\"]" "r.filter(t => t.state === 'running' && t.viewers > 0).length === $n"; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.2
  done
  sleep 1 # it is drawn, and has the keyboard
}
type_line() {
  xdotool type --delay 15 "$1"
  xdotool key Return
  sleep 0.5
}

# is_done: the last run of the channel.
is_done() { says System.Snapshot '[]' "r.channels.find(c => c.channel_id === '$channel').state === 'done'"; }
