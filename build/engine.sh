#!/usr/bin/env bash
# Finds a container engine, or starts one.
#
#   engine.sh status   print the address of the engine that answers; 1 none, 3 refused to this user
#   engine.sh start    start one if none answers; prints how to stop it
#   engine.sh stop     stop the engine that "start" started, and only that one
#
# The engine is asked over its socket with curl: a docker client may be missing,
# or too new or too old for the engine beside it.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

started=$CACHE/engine.started # "pid N" or "systemd": what start did
log=$CACHE/dockerd.log
wait_seconds=180 # a first start creates bridge, iptables rules and containerd's state; slow disks need a minute
answer_seconds=30 # an engine that is busy answers late, and one that is taken for absent is started twice

# addresses in the order backend/engine tries them; keep the two in step. A place
# the person chose is the only one, as for the docker command.
addresses() {
  local xdg=${XDG_RUNTIME_DIR:-} chosen=''
  if [ -n "${DOCKER_HOST:-}" ]; then
    say "$DOCKER_HOST"
    return
  fi
  if have docker && { [ -n "${DOCKER_CONTEXT:-}" ] || grep -qs '"currentContext"' "${DOCKER_CONFIG:-$HOME/.docker}/config.json"; }; then
    chosen=$(docker context inspect --format '{{.Endpoints.docker.Host}}' 2>/dev/null || true)
    if [ -n "$chosen" ]; then
      say "$chosen"
      return
    fi
  fi
  if [ -z "$xdg" ] && is_linux && ! is_root; then xdg=/run/user/$(id -u); fi
  say unix:///var/run/docker.sock
  if [ -n "$xdg" ]; then
    say "unix://$xdg/docker.sock"
    say "unix://$xdg/podman/podman.sock"
  fi
  ! is_linux || say unix:///run/podman/podman.sock
  say "unix://$HOME/.local/share/containers/podman/machine/podman.sock"
  say "unix://$HOME/.colima/default/docker.sock"
  say "unix://$HOME/.config/colima/default/docker.sock"
  say "unix://$HOME/.orbstack/run/docker.sock"
  say "unix://$HOME/.docker/run/docker.sock"
  say "unix://$HOME/.docker/desktop/docker.sock"
}

# ping ADDRESS: 0 answers, 3 is there but refuses us, 1 otherwise.
ping() {
  local path
  case $1 in
    unix://*)
      path=${1#unix://}
      [ -S "$path" ] || return 1
      [ -w "$path" ] || return 3
      have curl || return 0 # setup.sh is about to install it; a socket is a good sign until then
      curl -fsS -m "$answer_seconds" --unix-socket "$path" http://localhost/_ping >/dev/null 2>&1
      ;;
    tcp://*) curl -fsS -m "$answer_seconds" "http://${1#tcp://}/_ping" >/dev/null 2>&1 ;;
    # ssh, npipe and TLS addresses need a real client; Loop's own doctor tells more.
    *) have docker && docker -H "$1" version >/dev/null 2>&1 ;;
  esac
}

# status prints the address that answers, or the one that refuses (3).
status() {
  local address denied='' code
  while IFS= read -r address; do
    code=0
    ping "$address" || code=$?
    case $code in
      0)
        say "$address"
        return 0
        ;;
      3) denied=${denied:-$address} ;;
    esac
  done <<<"$(addresses)"
  [ -z "$denied" ] && return 1
  say "$denied"
  return 3
}

await_answer() {
  local pid=${1:-} deadline=$((SECONDS + wait_seconds))
  # Asked as root: the socket may belong to a group this session is not in yet.
  until as_root curl -fsS -m "$answer_seconds" --unix-socket /var/run/docker.sock http://localhost/_ping >/dev/null 2>&1; do
    if [ -n "$pid" ] && ! as_root kill -0 "$pid" 2>/dev/null; then return 1; fi
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.3
  done
}

start_dockerd() {
  local pid
  step "Starting dockerd (log: build/cache/dockerd.log)"
  : >"$log"
  if is_root; then
    setsid dockerd >"$log" 2>&1 </dev/null & # its own session: Ctrl-C in the terminal is not meant for it
    pid=$!
  else
    # The shell under sudo prints the pid and becomes dockerd.
    # shellcheck disable=SC2016
    as_root sh -c 'setsid dockerd >"$1" 2>&1 </dev/null & echo $!' sh "$log" >"$CACHE/dockerd.pid" ||
      die "No engine answers, and starting dockerd needs root." "Run: sudo dockerd"
    pid=$(cat "$CACHE/dockerd.pid")
  fi
  printf 'pid %s\n' "$pid" >"$started"
  if ! await_answer "$pid"; then
    tail -n 20 "$log" >&2
    stop
    die "dockerd did not answer within $wait_seconds s." "Its last words are above; the whole log is build/cache/dockerd.log."
  fi
  note "dockerd runs as process $pid and stays up; stop it with: build/engine.sh stop"
}

start() {
  local address code=0
  address=$(status) || code=$?
  case $code in
    0)
      note "Engine: $address"
      return 0
      ;;
    3)
      die "The engine at $address does not accept the user $(id -un)." \
        "Run: sudo usermod -aG docker $(id -un) — then log in again. That group controls the engine, which is as good as root."
      ;;
  esac
  [ -z "${DOCKER_HOST:-}" ] ||
    die "Nothing answers at DOCKER_HOST=$DOCKER_HOST." "Start that engine, or unset DOCKER_HOST to use the local one."
  if is_macos; then
    if have colima; then
      step "Starting Colima"
      colima start || die "Colima did not start." "Run: colima start"
      note "Stop it with: colima stop"
      return 0
    fi
    die "No container engine answers." "Start Docker Desktop, or install Colima (brew install colima docker) and run: colima start"
  fi
  is_linux || die "No container engine answers." "Start Docker Desktop and try again."
  can_be_root || die "No container engine answers, and starting one needs root." "Run: sudo systemctl start docker (or sudo dockerd)"
  if [ -d /run/systemd/system ] && systemctl cat docker.service >/dev/null 2>&1; then
    step "Starting the docker service"
    as_root systemctl start docker || die "The docker service did not start." "Run: journalctl -u docker"
    say systemd >"$started"
    await_answer || die "The docker service does not answer." "Run: journalctl -u docker"
    note "Stop it with: sudo systemctl stop docker docker.socket"
    return 0
  fi
  have dockerd || PATH=$PATH:/usr/sbin:/sbin have dockerd ||
    die "No container engine answers and dockerd is not installed." "Install Docker Engine (Debian, Ubuntu: apt-get install docker.io)."
  start_dockerd
}

stop() {
  local how
  [ -f "$started" ] || return 0
  how=$(cat "$started")
  rm -f "$started"
  case $how in
    systemd) as_root systemctl stop docker docker.socket || true ;;
    pid\ *)
      local pid=${how#pid } deadline=$((SECONDS + 30))
      # The number may belong to another program by now; only a dockerd is ended.
      case $(ps -o comm= -p "$pid" 2>/dev/null) in *dockerd*) ;; *) return 0 ;; esac
      note "Stopping dockerd (process $pid)"
      as_root kill -TERM "$pid" 2>/dev/null || return 0
      while ps -p "$pid" >/dev/null 2>&1; do
        if [ $SECONDS -ge $deadline ]; then
          as_root kill -KILL "$pid" 2>/dev/null || true
          break
        fi
        sleep 0.2
      done
      ;;
  esac
}

case ${1:-} in
  status) status ;;
  start) start ;;
  stop) stop ;;
  *) die "Usage: build/engine.sh status|start|stop" ;;
esac
