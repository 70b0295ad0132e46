# Completion of msprof for bash. Enable it in ~/.bashrc:  source <(msprof completion bash)
# msprof reads the line and prints texts that are inserted unchanged; nothing is evaluated.

_msprof() {
  local program=${1/#\~\//$HOME/} line
  type -P "$program" >/dev/null || program=msprof
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(command "$program" __complete -- bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
  # In msprof's order: the newest capture first.
  compopt -o nosort 2>/dev/null
  # A folder to continue: no blank after it.
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace
  return 0
}

complete -F _msprof msprof
