
# For a program that is missing: bash says how it can be had.
command_not_found_handle() {
  local part=''
  case $1 in
    cc | gcc | c++ | g++ | cpp | ld | as | ar) part=compiler ;;
    node | npm | npx) part=node ;;
    python | python3 | pip | pip3) part=python ;;
    vi | vim | vimdiff) part=vim ;;
    rg) part=ripgrep ;;
    make | pnpm | git | nano | tmux | htop | less) part=$1 ;;
  esac
  echo "$1: The container has no program of this name." >&2
  if [ -n "$part" ]; then
    echo "To add it, switch on image_tools.$part in Loop's settings; the next container has it." >&2
  else
    echo "To add it, put it into ~/.local/bin, or name an image that has it (container_image in Loop's settings)." >&2
  fi
  return 127
}
