# shellcheck shell=bash
# Sourced: steps that are skipped while the content they were made from is the
# same. A stamp is a file under build/cache/stamps that holds a hash of names
# and contents, never times, so a fresh checkout of the same tree is no change.

sha256=(sha256sum)
have sha256sum || sha256=(shasum -a 256)

# tree_hash PATH…: hash of all files git would keep under the paths (tracked or
# new, not ignored); of all files where this is not a git checkout.
tree_hash() {
  (
    cd "$ROOT" || exit
    if repo_git rev-parse --git-dir >/dev/null 2>&1; then
      repo_git ls-files -z --cached --others --exclude-standard -- "$@"
    else
      find "$@" -name node_modules -prune -o -name dist -prune -o -type f -print0
    fi | LC_ALL=C sort -z | while IFS= read -r -d '' f; do
      # A file deleted but still in the index has no content; its absence is the change.
      [ -f "$f" ] && printf '%s\0' "$f"
    done | xargs -0 "${sha256[@]}"
  ) | "${sha256[@]}" | cut -c1-40
}

stamp_file() { printf '%s/stamps/%s' "$CACHE" "$1"; }

# fresh NAME HASH: whether NAME was last finished with this HASH.
fresh() {
  local file
  file=$(stamp_file "$1")
  [ -f "$file" ] && [ "$(cat "$file")" = "$2" ]
}

# finished NAME HASH: remember it. Call only after the step succeeded.
finished() {
  local file
  file=$(stamp_file "$1")
  mkdir -p "$(dirname "$file")"
  printf '%s\n' "$2" >"$file.new" && mv "$file.new" "$file"
}
