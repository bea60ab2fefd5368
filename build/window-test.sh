#!/usr/bin/env bash
# Drives the real window through a demo run, held calls, a browser, an export, four terminals and its end: window-test.sh [DIRECTORY]
#
# Starts a virtual display, a session bus and build/bin/loop-desktop with a
# Loop folder of its own; types with xdotool as a person would, and checks the
# result through the API that instance.json names. Screenshots go to DIRECTORY
# (build/cache/window unless given). Everything is stopped by its process id.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
out=${1:-$CACHE/window}
patience=${PATIENCE:-300} # seconds for one awaited thing; a cold run on a loaded two-core machine has taken a minute
again=90                  # seconds until keys are taken for lost and pressed once more: what is only slow would be done twice
prompt='Write a short note about this folder'
# shellcheck source=build/window.sh
. "$(dirname "$0")/window.sh"

step "Opening the window"
open_window

step "The demo channel, by the keyboard"
await "the demo channel" ask_demo
channel=$(call Channels.List '[]' | node -pe 'JSON.parse(require("fs").readFileSync(0,"utf8")).find(c=>c.kind==="demo").channel_id')
picture 1-channel

step "A prompt"
await "the prompt" ask_prompt "$prompt"
await "the run to work" says System.Snapshot '[]' "['working','done'].includes(r.channels.find(c => c.channel_id === '$channel').state)"
picture 2-working
await "the run to finish" says System.Snapshot '[]' "['done','failed'].includes(r.channels.find(c => c.channel_id === '$channel').state)"
says System.Snapshot '[]' "r.channels.find(c => c.channel_id === '$channel').state === 'done'" || {
  call System.Snapshot '[]' >&2
  die "The demo run did not succeed."
}
# Two more frames: the last event has to reach the page and be drawn.
sleep 1
picture 3-done
step "The window finished a demo run"

step "Held calls, in the native dialog and in the window"
# The demo writes ~/.bashrc twice: with Write, then by a command.
ask_gate() { ask_script "$1" gate; }
startup=$tmp/home/channels/$channel/home/.bashrc
has() { grep -q "$1" "$startup"; }

await "a prompt of the gate's demo" ask_gate 'Set up my shell'
call System.Hide '[]' >/dev/null
await "the held Write" held "a.operation === 'create' && a.target.endsWith('/.bashrc') && a.diff.includes('+alias ll')"
[ ! -e "$startup" ] || die "The file was written before anybody allowed it."
take_dialog 4-dialog
click_dialog 1
await "the allowed file" has '^alias ll'
await "the held command" held "a.operation === 'write' && a.processes[0].short.startsWith('echo ')"
take_dialog 5-dialog-of-a-command
click_dialog 5
take_window
await "the end of the dialog" no_dialog
sleep 1 # the card has the keyboard, and listens
picture 6-card
xdotool getwindowname "$window" | grep -q '^(1) ' || die "The window's title does not count what waits."
keys Escape
await "the end of the run" is_done
if has EDITOR; then die "The denied line was written."; fi
call Channels.Timeline "[\"$channel\",0,200]" | grep -q 'Permission denied' || die "The agent was not told that it was denied."

rm "$startup"
await "another prompt of the gate's demo" ask_gate 'Set up my shell again'
call System.Hide '[]' >/dev/null
await "the held Write" held "a.operation === 'create'"
take_dialog 7-dialog-again
keys Return # denies, wherever the keyboard is
await "the held command" held "a.in_place && a.processes[0].short.startsWith('echo ')"
[ ! -e "$startup" ] || die "The denied file was written."
desktop "$BIN/loop-desktop" || die "A second start failed."
take_window
await "the end of the dialog" no_dialog
sleep 1
keys F8
sleep 1
keys ctrl+Return
await "the end of the run" is_done
has EDITOR || die "The allowed line was not written."
sleep 1
picture 8-answered
step "The gate asked in dialog and window"

step "A page in the browser, with the agent and the person at it"
chromium_runs() { says System.ListContainers '[]' 'r.some(c => c.type === "chrome" && c.status === "running")'; }
open_browser() {
  command_by_name 'Open: browser'
  local deadline=$((SECONDS + again))
  until chromium_runs; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.2
  done
}
# page_middle: X and Y of the middle of the demo's page, by its colour.
page_middle() {
  local width height x y
  import -window root "$tmp/page.png"
  # Eroded: pixels of this colour stand at the edges of letters as well.
  IFS='x+' read -r width height x y < <(convert "$tmp/page.png" -fuzz 1% -fill black +opaque '#e2f1e8' -fuzz 0 -fill white +opaque black \
    -morphology Erode Square:5 -format '%@\n' info: 2>/dev/null)
  [ "$width" -gt 200 ] && [ "$height" -gt 200 ] && say "$((x + width / 2)) $((y + height / 2))"
}
said() { call Channels.Timeline "[\"$channel\",0,500]" | grep -qE "$1"; }
# drive_browser: the person takes over by a click into the page's field, which lies in its
# middle, and greets Bob, while the agent waits to greet Ada.
drive_browser() {
  keys F6 # an earlier try left the keyboard on the page, which takes Ctrl+L
  ask_script "$1" browser || return 1
  local deadline=$((SECONDS + patience)) middle
  until middle=$(page_middle); do
    [ $SECONDS -lt $deadline ] || return 1
  done
  # shellcheck disable=SC2086 # two numbers
  set -- $middle
  xdotool mousemove "$1" $(($2 + 12)) click 1
  xdotool key --clearmodifiers ctrl+a
  xdotool type --delay 30 'Bob'
  xdotool key Return
}
await "Chromium" open_browser
# A computer that is busy may be later than the agent; then it is tried again.
for try in 1 2 3; do
  drive_browser "Try a page in the browser, $try" || die "The agent did not open its page."
  sleep 3 # the agent comes to wait
  picture 9-browser-person
  keys ctrl+shift+g
  await "the end of the run" is_done
  if said 'greeted [^"]*Bob' && said 'Hello, Ada'; then break; fi
done
said 'greeted [^"]*Bob' || die "What the person typed did not reach the page."
said 'Hello, Ada' || die "The agent did not fill in the page after the person had given it back."
said 'You took over the browser' || die "The timeline does not say that the person drove."
said 'You gave the browser back' || die "The timeline does not say that the person gave back."
sleep 1
picture 10-browser
# Nothing of it stays open: a pane is a reason to live.
await "the end of the panel" command_by_name 'Close the browser'
step "The window showed a browser, and both drove it"

step "The run played back, and exported by the system's dialog"
run=$(call Channels.Timeline "[\"$channel\",0,500]" | node -pe 'JSON.parse(require("fs").readFileSync(0,"utf8")).events.findLast(e=>e.run_id).run_id')
command_by_name 'Play back the last'
sleep 2
keys End
sleep 1 # its last picture is loaded and drawn
picture 11-playback
save_dialog() { xdotool search --onlyvisible --name '^Export the run$'; }
no_save_dialog() { ! save_dialog; }
# asks_where: the export of the run, until its dialog has the keyboard. Its answer, or why
# there is none, goes to a file when the dialog has been answered.
asks_where() {
  curl -sS -m 120 -H "Authorization: Bearer $(field token)" -H 'Content-Type: application/json' --data "[\"$run\"]" \
    "$(field url)api/call/Footage.SaveExport" >"$tmp/exported" &
  exporting=$!
  await "the dialog for saving" save_dialog
  xdotool windowfocus "$(save_dialog | head -n 1)"
  sleep 1 # it has listed its folder, and marked the name
}
# saves_to FILE: an answer by the keyboard.
saves_to() {
  asks_where
  keys ctrl+a
  xdotool type --delay 15 "$1"
  keys Return
  wait "$exporting"
}
saves_to "$tmp/mine.zip"
grep -qF "$tmp/mine.zip" "$tmp/exported" || die "The export did not say where it is: $(cat "$tmp/exported")"
[ "$(head -c 2 "$tmp/mine.zip")" = PK ] || die "The export is not the zip that was asked for."
asks_where
keys Escape
wait "$exporting"
[ "$(cat "$tmp/exported")" = '""' ] || die "A closed dialog came to something: $(cat "$tmp/exported")"
saves_to /proc/mine.zip # where nobody can write
grep -q 'could not be written to /proc/mine.zip' "$tmp/exported" || die "The person is not told why there is no file: $(cat "$tmp/exported")"
await "the end of the dialog" no_save_dialog
xdotool windowfocus "$window"
await "the end of the playback" command_by_name 'Close the playback'
sleep 1
step "The window exported a run"

step "Four terminals, by the keyboard"
prompts_sent() { call Channels.History "[\"$channel\",\"\",50]" | node -pe 'JSON.parse(require("fs").readFileSync(0,"utf8")).length'; }
prompts=$(prompts_sent)
await "a shell in the container" opened 1 command_by_name 'shell in the container'
await "a shell beside it" opened 2 keys ctrl+shift+d
await "one below" opened 3 keys ctrl+shift+e
keys alt+shift+Left
sleep 1
await "one below the first" opened 4 keys ctrl+shift+e
keys ctrl+shift+l
keys equal Return
sleep 1
type_line 'cd /; clear; uname -srm; date'
keys alt+shift+Up
sleep 0.5
type_line 'cd /; clear; ls -l --color'
keys alt+shift+Right
sleep 0.5
# shellcheck disable=SC2016 # the shell in the terminal expands it
type_line 'clear; for i in 31 32 33 34 35 36; do printf "\033[${i}mcolour %s \033[7m and turned \033[0m\n" $i; done; cd /'
keys alt+shift+Down
sleep 0.5
type_line 'cd /; clear; git --version; claude --version; false'
[ "$(prompts_sent)" = "$prompts" ] || die "What was typed into a terminal went to the prompt box."
says Terminals.List "[\"$channel\"]" 'r.length === 4 && r.every(t => t.target === "agent" && t.cols > 10 && t.rows > 3)' || die "The terminals have no size."
sleep 1
picture 12-terminals
keys ctrl+shift+x
sleep 1
picture 13-terminal-alone
keys ctrl+shift+x
for id in $(call Terminals.List "[\"$channel\"]" | node -pe 'JSON.parse(require("fs").readFileSync(0,"utf8")).map(t=>t.session_id).join("\n")'); do
  call Terminals.Close "[\"$id\"]" >/dev/null
done
await "the end of all" says Terminals.List "[\"$channel\"]" 'r.length === 0'
step "The window showed four terminals"

step "Containers, files and the copy of an agent"
warm() { says System.ListContainers '[]' 'r.filter(c => c.type === "agent" && c.status === "running").length === 1'; }
stopped() { says System.ListContainers '[]' 'r.some(c => c.type === "agent" && c.status === "stopped")'; }
# stop_container: by the list of containers. It asks first, and what is safe has the keyboard.
stop_container() {
  command_by_name 'Open: containers'
  sleep 2 # the list has the keyboard once it was read
  keys slash
  xdotool type --delay 20 'demo'
  keys Escape
  keys s
  sleep 1
  [ -e "$out/14-containers.png" ] || picture 14-containers
  keys Tab Return
  local deadline=$((SECONDS + 20))
  until stopped; do
    if [ $SECONDS -ge $deadline ]; then
      keys Escape
      return 1
    fi
    sleep 0.2
  done
}
warm || die "The container of the runs is not there."
rm -f "$out/14-containers.png"
await "the stopped container" stop_container
await "the list of containers to go" command_by_name 'Close the list of containers'
command_by_name 'Open: files of the container'
sleep 2
picture 15-files
command_by_name 'Close the list of files'
command_by_name 'Open: workspace'
sleep 2
picture 16-workspace
command_by_name 'Close the copy beside'
sleep 1
step "The window stopped a container, and showed files"

step "Closing and quitting"
cc -o "$tmp/closewindow" build/closewindow.c -lX11
close_window() { "$tmp/closewindow" "$window"; }
# ended WHAT: waits for the end of the app. It makes no call: a caller counts as a
# client, and keeps a hidden Loop alive.
ended() {
  local deadline=$((SECONDS + patience))
  while kill -0 "$app" 2>/dev/null; do
    [ $SECONDS -lt $deadline ] || die "Waited $patience s in vain for the end of the app: $1."
    sleep 0.2
  done
  wait "$app" || die "The app ended with $?: $1."
  app=''
}
program=98765$$ # seconds that nothing else sleeps
sleeps() { grep -qzx "$program" /proc/[0-9]*/cmdline 2>/dev/null; }
await "a shell on this computer" opened 1 command_by_name 'shell on this computer'
type_line "sleep $program"
await "its program" says System.Leaving '[]' "r.stays && r.ends.length === 1 && r.ends[0].name === 'sleep $program' && r.ends[0].host"
session=$(call Terminals.List "[\"$channel\"]" | node -pe 'JSON.parse(require("fs").readFileSync(0,"utf8"))[0].session_id')
goes_on() { says Terminals.List "[\"$channel\"]" "r.length === 1 && r[0].session_id === '$session' && r[0].command === 'sleep $program'" && sleeps; }
# A page that hangs is not waited for, and ends nothing.
web=$(pgrep -P "$(field pid)" WebKitWeb)
kill -STOP "$web"
close_window
await "the window of a page that hangs to go" hidden
kill -CONT "$web"
says System.Memory '[]' '!r["closing.told"]' || die "It counts as said although nobody can have read it."
desktop "$BIN/loop-desktop" || die "A second start failed."
take_window
sleep 1
close_window
await "what is said once" says System.Memory '[]' 'r["closing.told"] === "yes"'
sleep 1 # the answer comes when the notice is there; now it is drawn as well
picture 17-closing
visible >/dev/null || die "The window went before the person had read the notice."
keys Return
await "the window to go" hidden
goes_on >/dev/null || die "A closed window ended a program."
desktop "$BIN/loop-desktop" || die "A second start failed."
take_window
await "the pane" says Terminals.List "[\"$channel\"]" 'r[0].viewers > 0'
sleep 1
picture 18-shown-again
close_window
await "the window to go without a word" hidden
desktop "$BIN/loop-desktop" || die "A second start failed."
take_window
goes_on >/dev/null || die "The program is not there any more."
ask_quit() { keys ctrl+shift+q && sleep 2; } # the answer of Loop, and the dialog drawn
ask_quit
picture 19-quit
keys Return # Cancel has the keyboard
sleep 1
goes_on >/dev/null || die "Cancel ended a program."
note_containers
ask_quit
keys Tab Return
ended "it was told to quit"
if sleeps; then die "Quitting left a program."; fi

step "Nothing lives: closing ends it"
open_window
close_window
ended "nothing needs it"

step "A hidden run, and its end"
open_window
await "a prompt" ask_prompt 'Write another note'
close_window
await "the window to go" hidden
note_containers
says System.Snapshot '[]' "r.channels.find(c => c.channel_id === '$channel').state === 'working'" || die "The run was over too soon to be hidden."
ended "its run has ended"
grep -q "nothing needs the hidden window" "$tmp/home/loop.log" || die "The log does not say why it ended."
step "The window closed, hid and quit as it should"
