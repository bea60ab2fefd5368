# Loop's .zshenv: puts the person's own back in its place, then adds marks at the
# first prompt, when all start-up files have been read.

if [[ -n ${LOOP_ZDOTDIR+set} ]]; then
  export ZDOTDIR=$LOOP_ZDOTDIR
  unset LOOP_ZDOTDIR
else
  unset ZDOTDIR
fi

if [[ -o interactive && ${LOOP_SHELL_INTEGRATION-} != 0 && -z ${TMUX-}${STY-} && ${TERM-} != (screen|tmux|dumb)* ]]; then
  typeset -g _loop_ran='' _loop_cwd='' _loop_url=''
  typeset -ga precmd_functions
  precmd_functions+=(_loop_begin)

  _loop_begin() {
    builtin emulate -L zsh # which also gives traps back at the end
    builtin trap - ZERR
    precmd_functions=(_loop_precmd ${precmd_functions:#_loop_begin})
    typeset -ga preexec_functions
    preexec_functions+=(_loop_preexec)
    # Where the prompt ends is said by the line editor, so that the prompt stays as it is.
    builtin autoload -Uz +X add-zle-hook-widget 2>/dev/null && add-zle-hook-widget line-init _loop_line
    _loop_precmd
    builtin unfunction _loop_begin
    builtin return 0 # as below
  }

  _loop_precmd() {
    builtin local rc=$?
    builtin emulate -L zsh
    if [[ -n $_loop_ran ]]; then
      _loop_ran=''
      builtin print -rn -- $'\e]133;D;'$rc$'\a'
    fi
    if [[ $PWD != $_loop_cwd ]]; then
      _loop_cwd=$PWD
      _loop_encode
    fi
    builtin print -rn -- $'\e]7;file://'${HOST-}$_loop_url$'\a\e]133;A\a'
    builtin return 0 # zsh keeps the command's status; another one would set off a ZERR trap
  }

  _loop_encode() {
    builtin emulate -L zsh -o no_multibyte
    builtin local c out=''
    for c in ${(s::)PWD}; do
      if [[ $c == [a-zA-Z0-9/._~-] ]]; then
        out+=$c
      else
        builtin printf -v c '%%%02X' $(( #c & 255 ))
        out+=$c
      fi
    done
    _loop_url=$out
  }

  _loop_line() { builtin print -rn -- $'\e]133;B\a' }

  _loop_preexec() {
    builtin emulate -L zsh
    _loop_ran=1
    builtin local s=${1[1,2048]} c hex
    builtin local -i i
    if [[ -n $s && $s != ' '* ]]; then
      s=${s//\\/\\\\}
      s=${s//;/\\x3b}
      if [[ $s == *[[:cntrl:]]* ]]; then
        for i in {1..31} 127; do
          builtin printf -v hex '%02x' $i
          c=${(#)i}
          s=${s//$c/\\x$hex}
        done
      fi
      builtin print -rn -- $'\e]633;E;'$s$'\a'
    fi
    builtin print -rn -- $'\e]133;C\a'
  }
fi

# Last: it may do anything, and it is as if it alone had been here.
if [[ -r ${ZDOTDIR:-$HOME}/.zshenv ]]; then
  source ${ZDOTDIR:-$HOME}/.zshenv
fi
