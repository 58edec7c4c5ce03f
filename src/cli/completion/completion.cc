#include "cli/completion/completion.h"

#include "cli/completion/scripts.h"

namespace sonde {
namespace {

// clang-format off
constexpr std::string_view kBash = R"SCRIPT(# bash completion for @tool@

# Offers the words of a text that begin as $cur does. They are compared, never evaluated: programs choose the names of their probes.
# One with characters that shells know is no name, and not offered.
_@tool@_offer()
{
    local LC_ALL=C IFS=$' \t\n' word words=()
    read -r -d '' -a words <<< "$1"
    for word in "${words[@]}"; do
        [[ $word == "$cur"* && $word != *[!A-Za-z0-9_.:/,=-]* ]] && COMPREPLY+=("$word")
    done
}

_@tool@()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} tool=${COMP_WORDS[0]}
    local i command= values=
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --) return ;;
            -*) ;;
            *) command=${COMP_WORDS[i]}; break ;;
        esac
    done
    if [[ -z $command ]]; then
        if [[ $cur == -* ]]; then
            _@tool@_offer "$("$tool" --list-opts 2>/dev/null)"
        else
            _@tool@_offer "$("$tool" --list-cmds 2>/dev/null)"
        fi
    elif [[ $command == help ]]; then
        _@tool@_offer "$("$tool" --list-cmds 2>/dev/null)"
    elif [[ $cur == -* ]]; then
        _@tool@_offer "$("$tool" "$command" --list-opts 2>/dev/null)"
    elif [[ $prev == -e || $prev == --event ]]; then
        _@tool@_offer "$("$tool" list --raw-dump 2>/dev/null)"
    elif [[ $prev == --* ]] && values=$("$tool" "$command" --list-opts="$prev" 2>/dev/null) && [[ -n ${values// /} ]]; then
        _@tool@_offer "$values"
    elif ((i == COMP_CWORD - 1)); then
        _@tool@_offer "$("$tool" "$command" --list-cmds 2>/dev/null)"
    fi
}
complete -o bashdefault -o default -F _@tool@ @tool@
)SCRIPT";
// clang-format on

}  // namespace

Result<std::string> completion_script(std::string_view shell, std::string_view tool,
                                      CommandList commands) {
  if (shell == "bash") return with_tool_name(kBash, tool);
  if (shell == "zsh") return zsh_completion(tool, commands);
  if (shell == "fish") return fish_completion(tool, commands);
  return fail(ErrorCode::kUsage, "no completion for the shell '{}': there is bash, zsh or fish",
              shell);
}

}  // namespace sonde
