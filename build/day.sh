#!/usr/bin/env bash
# Films a working day in the real window, by the keyboard alone: day.sh [DIRECTORY]
#
# A clone, a prompt with a mention and a picture, a plan, its review with comments, going
# back, and three channels at once with a notification that is answered from the desk. The
# agents are the real Claude Code in containers; the model answers from build/day/day.json.
# Pictures go to DIRECTORY (build/cache/day unless given). What each shows is checked through
# the API. Needs what the stage "window" needs, and dunst, which draws notifications.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
build/setup.sh test
build/engine.sh start
build/binaries.sh all
build/image.sh ensure
have dunst || { have apt-get && can_be_root && as_root apt-get install -y -q --no-install-recommends dunst; } ||
  die "There is no dunst, which draws notifications." "Install the package dunst."
out=${1:-$CACHE/day}
patience=${PATIENCE:-180}
again=60
rm -rf "$out"
# shellcheck source=build/window.sh
. "$(dirname "$0")/window.sh"

# next NAME: a picture, after what changed last was drawn.
shown=0
next() {
  sleep 1
  shown=$((shown + 1))
  picture "$(printf '%02d' $shown)-$1"
}
write() { xdotool type --delay 15 "$1"; }
state_is() { says System.Snapshot '[]' "r.channels.find(c => c.channel_id === '$channel').state === '$1'"; }
waits() { says System.Snapshot '[]' "r.channels.filter(c => c.state === 'needs_you').length === $1"; }
channel_of() { call Channels.List '[]' | node -pe 'JSON.parse(require("fs").readFileSync(0,"utf8")).find(c=>c.dir===process.argv[1])?.channel_id??""' "$1"; }
is_open() { [ -n "$(channel_of "$1")" ]; }
# prompted TEXT: whether the channel has had a prompt with it.
prompted() { says Channels.History "[\"$channel\",\"\",50]" "r.some(p => p.includes('$1'))"; }
no_dialog_named() { ! dialog_named "$1"; }
dialog_named() { xdotool search --onlyvisible --name "^$1\$"; }

step "The scripted model, and a project to clone"
"$BIN/loop" demo-model --scripts build/day >"$tmp/model.log" 2>&1 &
helper=$!
await "the model's address" grep -qo 'http://127[^ ]*' "$tmp/model.log"
address=$(grep -o 'http://127[^ ]*' "$tmp/model.log" | head -n 1)
cat >"$tmp/home/config.json" <<JSON
{ "anthropic_base_url": "$address", "anthropic_api_key": "sk-ant-api03-scripted", "claude_model": "demo-day" }
JSON
chmod 700 "$tmp/home" && chmod 600 "$tmp/home/config.json"
origin=$tmp/origin
git init -q -b main "$origin"
cat >"$origin/inventory.js" <<'JS'
export class Inventory {
  stock = new Map();

  add(id, n) {
    this.stock.set(id, (this.stock.get(id) ?? 0) + n);
  }

  sell(id, n) {
    if (n > (this.stock.get(id) ?? 0)) throw new Error("not enough");
    this.stock.set(id, this.stock.get(id) - n);
  }
}
JS
cat >"$origin/inventory.test.js" <<'JS'
import assert from "node:assert/strict";
import test from "node:test";
import { Inventory } from "./inventory.js";

test("what is sold is gone", () => {
  const inv = new Inventory();
  inv.add("tea", 3);
  inv.sell("tea", 1);
  assert.equal(inv.stock.get("tea"), 2);
});
JS
printf '{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }\n' >"$origin/package.json"
printf '# Shop\n\nSells tea.\n' >"$origin/README.md"
git -C "$origin" add .
git -C "$origin" -c user.name=Ada -c user.email=ada@example.org commit -qm 'Sell tea'
convert -size 480x200 xc:white -font "$(fc-match -f "%{file}" sans)" -stroke black -strokewidth 3 -fill '#ffe9a8' -draw 'rectangle 20,60 140,140' \
  -draw 'rectangle 180,60 300,140' -draw 'rectangle 340,60 460,140' -draw 'line 140,100 180,100' -draw 'line 300,100 340,100' \
  -stroke none -fill black -pointsize 20 -draw 'text 55,106 "stock"' -draw 'text 195,106 "reserved"' -draw 'text 380,106 "sold"' "$tmp/sketch.png"

step "Clone and open"
git clone -q "$origin" "$tmp/shop"
open_window
sleep 2
next welcome
# choose TITLE PATH: an answer to a dialog of the system. Its field opens at the first letter,
# and loses those that follow at once.
choose() {
  await "the dialog $1" dialog_named "$1"
  xdotool windowfocus "$(dialog_named "$1" | head -n 1)"
  sleep 1
  keys slash
  sleep 1
  keys ctrl+a
  write "$2"
  sleep 1
  keys Delete # what the field adds by itself
  keys Return
  await "the end of the dialog $1" no_dialog_named "$1"
  xdotool windowfocus "$window"
  sleep 0.5
}
keys ctrl+o
choose 'Choose a project folder' "$tmp/shop"
next folder
await "the project" is_open "$tmp/shop"
channel=$(channel_of "$tmp/shop")
next project

step "A prompt with a mention and a picture, planned first"
keys ctrl+l
write 'Let a customer reserve stock, as in the sketch. It begins in @inv'
next mention
keys Return
keys alt+a
choose 'Select Files' "$tmp/sketch.png"
keys alt+m
next prompt
keys Return
await "the prompt" prompted "as in the sketch"
await "the plan" state_is needs_you
next plan
keys F8
sleep 1
keys 3
next plan-chosen
state_is needs_you || die "A number alone has approved the plan."
keys ctrl+Return
await "the end of the work" state_is "done"
grep -q reserved "$tmp/shop/inventory.js" || die "The plan was not carried out."
next work

step "Its review, with comments as one prompt"
command_by_name 'Open: review'
sleep 2
next review
keys c
sleep 1
write 'Say in the error how much is free.'
next comment
keys ctrl+Return
sleep 1
next comments
keys ctrl+shift+Return
await "the comments as a prompt" prompted "how much is free"
await "the end of the work" state_is "done"
grep -q RangeError "$tmp/shop/inventory.js" || die "The comments were not followed."
next commented

step "Back to before the comments"
command_by_name 'Close the review'
command_by_name 'Back to before the last'
sleep 2
next rewind
keys ctrl+Return
back() { ! grep -q RangeError "$tmp/shop/inventory.js"; }
await "the files of before" back
grep -q reserved "$tmp/shop/inventory.js" || die "More went back than the last prompt."
next went-back

step "Three channels at once, and a notification answered from the desk"
git clone -q "$origin" "$tmp/docs"
git clone -q "$origin" "$tmp/web"
for dir in "$tmp/docs" "$tmp/web"; do
  keys ctrl+o
  choose 'Choose a project folder' "$dir"
  await "the project" is_open "$dir"
done
# ask DIR TEXT: in a project's channel, by the palette.
ask() {
  command_by_name "$(basename "$1")"
  sleep 1
  channel=$(channel_of "$1")
  keys ctrl+l
  keys ctrl+a
  write "$2"
  keys Return
  local deadline=$((SECONDS + 20))
  until prompted "$2"; do
    if [ $SECONDS -ge $deadline ]; then
      keys Escape Escape
      return 1
    fi
    sleep 0.2
  done
}
await "a prompt in shop" ask "$tmp/shop" 'Please count lines'
await "a prompt in docs" ask "$tmp/docs" 'Which licence shall it have?'
await "a prompt in web" ask "$tmp/web" 'Set up my shell'
# The person looks at another program.
other_window() { xdotool search --onlyvisible --class display; }
display -size 420x260 xc:'#f4f4f4' >/dev/null 2>&1 &
notes=$!
await "another window" other_window
xdotool windowmove "$(other_window)" 40 500 windowfocus "$(other_window)"
held() { says Gate.Pending '[]' "r.length === $1"; }
both() { held 1 && waits 1; }
await "what needs the person" both
next notification
kill "$notes"
wait "$notes" 2>/dev/null || true
xdotool windowfocus "$window"
sleep 0.5
keys F8 F8
sleep 1
next desk
keys 2
next desk-chosen
held 1 || die "A number alone has answered."
keys ctrl+Return
await "the allowed call" held 0
await "the one that is left" waits 1
sleep 1 # its card is deaf for half of that
keys 1
next desk-question
keys ctrl+Return
await "nobody to wait" waits 0
next desk-empty
grep -q "alias t=" "$tmp"/home/channels/*/home/.bashrc || die "The allowed line was not written."
call Channels.Timeline "[\"$(channel_of "$tmp/docs")\",0,200]" | grep -q 'that is settled: .*MIT' || die "The answer did not reach the agent."
keys Escape
sleep 1
next back
step "The day is in $out: $shown pictures"
