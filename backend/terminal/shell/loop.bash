# Loop's start-up file for bash: reads the person's own, then adds marks.
# __loop_login=1 stands before it in a shell that was to be a login shell.

if [ "${__loop_login-}" = 1 ]; then
  unset __loop_login
  if [ -r /etc/profile ]; then . /etc/profile; fi
  if [ -r ~/.bash_profile ]; then
    . ~/.bash_profile
  elif [ -r ~/.bash_login ]; then
    . ~/.bash_login
  elif [ -r ~/.profile ]; then
    . ~/.profile
  fi
elif [ -r ~/.bashrc ]; then
  . ~/.bashrc
fi

# 4.4 brought PS0, which says that a command begins without a DEBUG trap.
if [[ ${LOOP_SHELL_INTEGRATION-} != 0 && -z ${TMUX-}${STY-} && ${TERM-} != @(screen|tmux|dumb)* && $- == *i* && -z ${__loop_cwd+set} ]] &&
  ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)) && builtin shopt -q promptvars; then

  __loop_cwd='' __loop_url='' __loop_ran='' __loop_rc=0 __loop_last='' __loop_none=''
  __loop_ps0='$(__loop_before)${__loop_none:$((__loop_ran=1,0)):0}\e]133;C\a'
  __loop_ps1='\[\e]133;B\a\]'

  # In a subshell, before a command: what was typed, as history has it. A command
  # that history did not take was not meant to be kept.
  __loop_before() {
    builtin local LC_ALL LC_CTYPE HISTTIMEFORMAT='' line s c i out=''
    builtin local at='\!'
    at=${at@P}
    line=$(builtin history 1)
    if ((at <= 1)); then at=$line; fi
    if [[ $at == "$__loop_last" || ! $line =~ ^\ *[0-9]+[*\ ]\ (.*)$ ]]; then builtin return; fi
    s=${BASH_REMATCH[1]}
    if [[ $s == ' '* ]]; then builtin return; fi
    s=${s:0:2048}
    LC_ALL=C
    for ((i = 0; i < ${#s}; i++)); do
      c=${s:i:1}
      case $c in
        \\) out+='\\' ;;
        ';') out+='\x3b' ;;
        [[:cntrl:]])
          builtin printf -v c '\\x%02x' "'$c"
          out+=$c
          ;;
        *) out+=$c ;;
      esac
    done
    builtin printf '\e]633;E;%s\a' "$out"
  }

  __loop_encode() {
    builtin local LC_ALL=C i c s="$1" out=''
    for ((i = 0; i < ${#s}; i++)); do
      c=${s:i:1}
      case $c in
        [a-zA-Z0-9/._~-]) out+=$c ;;
        *)
          builtin printf -v c '%d' "'$c" # bytes above 127 may come out negative
          builtin printf -v c '%%%02X' "$((c & 255))"
          out+=$c
          ;;
      esac
    done
    __loop_url=$out
  }

  # The status a string of commands begins with, for its last one.
  __loop_keep() {
    __loop_rc=$?
    builtin return "$__loop_rc"
  }

  # The last of the prompt's commands.
  __loop_prompt() {
    builtin local rc=$? LC_ALL LC_CTYPE HISTTIMEFORMAT=''
    if [[ $1 == kept ]]; then rc=$__loop_rc; fi
    if [[ -n $__loop_ran ]]; then
      __loop_ran=''
      builtin printf '\e]133;D;%s\a' "$rc"
    fi
    if [[ $PWD != "$__loop_cwd" ]]; then
      __loop_cwd=$PWD
      __loop_encode "$PWD"
    fi
    builtin printf '\e]7;file://%s%s\a\e]133;A\a' "${HOSTNAME-}" "$__loop_url"
    # The number of history's last entry; of an empty one it says too little.
    __loop_last='\!'
    __loop_last=${__loop_last@P}
    if ((__loop_last <= 1)); then __loop_last=$(builtin history 1); fi
    # Whoever sets the prompt anew with every command has done so by now.
    if [[ ${PS1-} != *"$__loop_ps1"* ]]; then PS1=${PS1-}$__loop_ps1; fi
    if [[ ${PS0-} != *"$__loop_ps0"* ]]; then PS0=${PS0-}$__loop_ps0; fi
    builtin return 0 # bash keeps the command's status; another one would set off an ERR trap
  }

  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
    # The commands are a list, each of which begins with the command's status. The
    # first place stays free for whoever sets a single one later.
    if [[ -z ${PROMPT_COMMAND[*]-} ]]; then
      PROMPT_COMMAND[1]='__loop_prompt now'
    else
      PROMPT_COMMAND+=('__loop_prompt now')
    fi
  else
    # Where more follows in a list, a failure sets off no ERR trap.
    PROMPT_COMMAND=$'__loop_keep && :\n'"${PROMPT_COMMAND-}"$'\n__loop_prompt kept'
  fi
fi
