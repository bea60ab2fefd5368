# shellcheck shell=bash
# Sourced: membership of the group that may use the engine.

# join_engine_group COMMAND…: where an engine is there but refuses this user,
# either continue COMMAND in the group (when the user is a member and only this
# session is older), or offer to add the user, or go on and let engine.sh say
# what is missing.
join_engine_group() {
  local code=0 group user
  is_linux || return 0
  "$ROOT/build/engine.sh" status >/dev/null || code=$?
  [ $code = 3 ] && [ -z "${LOOP_JOINED:-}" ] && have sg || return 0
  user=$(id -un)
  group=$(stat -c %G /var/run/docker.sock 2>/dev/null) || return 0
  case $group in root | UNKNOWN | '') return 0 ;; esac
  if ! id -nG "$user" | tr ' ' '\n' | grep -qx "$group"; then
    may_ask && can_be_root || return 0
    say "The container engine only serves members of the group $group; $user is not one."
    say "Members control the engine, which is as good as being root."
    printf 'Add %s to the group %s? [y/N] ' "$user" "$group"
    local answer
    read -r answer
    case $answer in y | Y | yes | Yes) ;; *) return 0 ;; esac
    as_root usermod -aG "$group" "$user" || return 0
  fi
  note "Continuing as a member of the group $group"
  export LOOP_JOINED=1 # once: if the group does not help, engine.sh says so
  # shellcheck disable=SC2046 # printf %q quotes each word
  exec sg "$group" -c "cd $(printf %q "$ROOT") && $(printf '%q ' "$@")"
}
