#!/usr/bin/env bash
# Runs tests with an engine as an ordinary user: as-user.sh TAGS PACKAGE…
#
# Root only. Makes a throw-away user in the engine's group (uid 1000 if it is
# free), compiles the tests as root and runs them as that user on a copy of
# the tree, since the checkout and Go's caches are usually closed to others. Tests
# named in as-user.skip are left out: their result does not depend on the user.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

# run_tests [-test.run=REGEXP PACKAGE]: prints go test's events of all wanted tests, or
# of the one that gotestsum tries again. The first package takes as long as all others
# together, and all of them mostly wait. So the others run beside it, and their output
# comes after it, so that no two lines mix.
run_tests() {
  local choice pkg first rest code=0 beside events=$LOOP_TEST_DIR/beside.events
  choice="-test.run=^($(build/engine-tests.sh | paste -sd '|' -))\$"
  if [ $# -gt 0 ]; then
    run_package "$1" "./${2#loop/}"
    return
  fi
  read -r first rest <<<"$LOOP_PACKAGES"
  {
    for pkg in $rest; do run_package "$choice" "$pkg" || code=1; done
    exit $code
  } >"$events" &
  beside=$!
  run_package "$choice" "$first" || code=1
  wait "$beside" || code=1
  cat "$events"
  return $code
}

# run_package -test.run=REGEXP PACKAGE
run_package() {
  local repo=$LOOP_TEST_DIR/repo test skip
  test=$LOOP_TEST_DIR/tests/$(basename "$2").test
  [ -f "$test" ] || return 0
  skip=$(paste -sd '|' "$test.skip")
  # From the package's directory, as go test does. The environment is made up, so
  # that nothing of root's reaches the user.
  (cd "$repo/${2#./}" && go tool test2json -t -p "loop/${2#./}" runuser -u "$LOOP_TEST_USER" -- env -i \
    PATH="$PATH" HOME="$LOOP_TEST_DIR/home" USER="$LOOP_TEST_USER" LOGNAME="$LOOP_TEST_USER" SHELL=/bin/bash \
    TMPDIR="$LOOP_TEST_DIR/tmp" LANG=C.UTF-8 ${SSL_CERT_FILE:+SSL_CERT_FILE="$SSL_CERT_FILE"} \
    LOOP_HOME="$LOOP_TEST_DIR/home/.loop" LOOP_BIN="$repo/build/bin/loop" LOOP_CLAUDE_BIN="$repo/build/cache/claude" \
    LOOP_GUEST_BIN="$repo/agentimage/bin/$(basename "$LOOP_GUEST_BIN")" \
    "$test" -test.v=test2json -test.timeout 40m "$1" ${skip:+"-test.skip=^($skip)\$"})
}

is_root || die "build/as-user.sh needs root to make a throw-away user."
cd "$ROOT"
if [ "${1:-}" = _run ]; then
  shift
  run_tests "$@"
  exit
fi
tags=$1
shift

user=loop-test
made=0
tmp=$(mktemp -d /tmp/loop-user.XXXXXX)
chmod 755 "$tmp"

# shellcheck disable=SC2317 # the trap calls it
finish() {
  rm -rf "$tmp"
  # -f: agents in other containers may have the same uid, which userdel takes for
  # sessions of this user. No process is ended by its uid.
  if [ "$made" = 1 ]; then userdel -f "$user" 2>/dev/null || true; fi
}
trap finish EXIT

socket=$(build/engine.sh status) || die "No engine answers."
socket=${socket#unix://}
[ -S "$socket" ] || die "The tests as an ordinary user need an engine on a unix socket."
group=$(stat -c %G "$socket")
case $group in
  root | UNKNOWN) die "The engine's socket $socket belongs to no group a user could be in." "Create the group docker and restart dockerd." ;;
esac

if ! id "$user" >/dev/null 2>&1; then
  uid=''
  getent passwd 1000 >/dev/null || uid='--uid 1000'
  # shellcheck disable=SC2086
  useradd $uid --no-create-home --home-dir "$tmp/home" --shell /bin/bash --groups "$group" "$user"
  made=1
fi

step "Copying the tree for the user $user ($(id "$user"))"
mkdir -p "$tmp/home" "$tmp/tmp" "$tmp/repo"
repo_git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' f; do
  if [ -e "$f" ]; then printf '%s\0' "$f"; fi
done | tar -c --null -T - | tar -x -C "$tmp/repo"
cp -a agentimage/bin/. "$tmp/repo/agentimage/bin/"
mkdir -p "$tmp/repo/build/bin" "$tmp/repo/build/cache" "$tmp/tests"
cp "$LOOP_BIN" "$tmp/repo/build/bin/loop"
cp "$LOOP_CLAUDE_BIN" "$tmp/repo/build/cache/claude"

# skipped PACKAGE: its tests in as-user.skip, a line each.
skipped() {
  sed 's/#.*//' build/as-user.skip | while read -r pkg names; do
    [ "$pkg" != "$1" ] || printf '%s\n' "$names" | tr ' ' '\n'
  done
}

# In one go, each called after the last part of its path; go refuses two of one name.
step "Compiling the tests"
go test -c -vet=off -ldflags '-s -w' -tags "$tags" -o "$tmp/tests/" "$@"
for pkg in "$@"; do
  bin=$tmp/tests/$(basename "$pkg").test
  skipped "$pkg" >"$bin.skip"
  if [ ! -x "$bin" ] || [ ! -s "$bin.skip" ]; then continue; fi
  (cd "$pkg" && "$bin" -test.list '^Test') | sort >"$bin.list"
  gone=$(sort "$bin.skip" | comm -23 - "$bin.list" | tr '\n' ' ')
  [ -z "$gone" ] || die "build/as-user.skip names tests that $pkg has not: $gone" "Take them out, or write their new names."
done
chown -R "$user": "$tmp/home" "$tmp/tmp" "$tmp/repo"

step "As $user"
export LOOP_PACKAGES="$*" LOOP_TEST_USER=$user LOOP_TEST_DIR=$tmp
build/retest.sh user --raw-command -- build/as-user.sh _run
