# $1 what is done, and what that needs; a patch or a message on stdin
act=$1
shift
exec 3>&1 1>&2 # what git says is for people
case "$act" in
  stage) g apply --cached - || exit 1 ;;
  unstage) g apply --cached -R - || exit 1 ;;
  reject) g apply -R - || exit 1 ;;
  restore) g apply - || exit 1 ;;
  stage-file)
    p=$1
    [ "$(mark)" = "$2" ] || exit 210
    g add --all -- "$p" || exit 1
    ;;
  unstage-file)
    if g rev-parse --verify --quiet 'HEAD^{commit}' >/dev/null; then g reset --quiet -- "$1" || exit 1
    else g rm -r --cached --quiet -- "$1" || exit 1; fi
    ;;
  commit)
    [ -z "$(g ls-files --unmerged | head -n 1)" ] || exit 212
    if [ ! -e "$here/MERGE_HEAD" ] && g diff $plain --cached --quiet --; then exit 211; fi
    g commit --quiet --no-verify --no-gpg-sign --cleanup=whitespace -F - || exit 1
    out commit 100 g rev-parse --short HEAD >&3
    ;;
  branch)
    g check-ref-format --branch "$1" >/dev/null || exit 202
    ! g show-ref --verify --quiet "refs/heads/$1" || exit 203
    g switch --quiet --no-track --create "$1" </dev/null || exit 1
    ;;
  continue | abort)
    at=$(state)
    case "$at" in
      rebase | am | cherry-pick | revert) g "$at" "--$act" </dev/null || exit 1 ;;
      merge)
        if [ "$act" = abort ]; then g merge --abort || exit 1
        else g commit --quiet --no-verify --no-gpg-sign --no-edit </dev/null || exit 1; fi
        ;;
      *) exit 213 ;;
    esac
    ;;
  *) exit 1 ;;
esac
