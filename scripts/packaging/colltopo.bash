# Completion of `colltopo` for bash: commands, options and values as the command itself lists them in its help.
_colltopo() {
  local word=${COMP_WORDS[COMP_CWORD]} words= command
  # Only the one of PATH, and no folder of PATH that is relative: a key pressed in somebody's folder must run nothing there.
  command=$(type -P colltopo)
  [[ $command == /* ]] || return 0
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=$("$command" --help 2>/dev/null | sed -n '/^subcommands:/I,/^$/s/^  \([a-z][a-z-]*\).*/\1/p')
    words+=" --help --version"
  elif [[ $word == -* ]]; then
    words=$("$command" "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -- '(^| |,)--?[a-z][a-z-]*' | tr -d ' ,')
  elif [ "$COMP_CWORD" -eq 2 ] && [[ ${COMP_WORDS[1]} == bound || ${COMP_WORDS[1]} == explain ]]; then
    words="alltoall allgather reduce_scatter allreduce bcast reduce gather scatter"
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  [ ${#COMPREPLY[@]} -gt 0 ] || [[ $word == -* ]] || mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _colltopo colltopo
