#include "cli/completion/completion.h"

#include "cli/completion/scripts.h"

namespace sonde {
namespace {

// clang-format off
constexpr std::string_view kBash = R"SCRIPT(# bash completion for @tool@
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
            COMPREPLY=($(compgen -W "$("$tool" --list-opts 2>/dev/null)" -- "$cur"))
        else
            COMPREPLY=($(compgen -W "$("$tool" --list-cmds 2>/dev/null)" -- "$cur"))
        fi
    elif [[ $command == help ]]; then
        COMPREPLY=($(compgen -W "$("$tool" --list-cmds 2>/dev/null)" -- "$cur"))
    elif [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$("$tool" "$command" --list-opts 2>/dev/null)" -- "$cur"))
    elif [[ $prev == -e || $prev == --event ]]; then
        COMPREPLY=($(compgen -W "$("$tool" list --raw-dump 2>/dev/null)" -- "$cur"))
    elif [[ $prev == --* ]] && values=$("$tool" "$command" --list-opts="$prev" 2>/dev/null) && [[ -n ${values// /} ]]; then
        COMPREPLY=($(compgen -W "$values" -- "$cur"))
    elif ((i == COMP_CWORD - 1)); then
        COMPREPLY=($(compgen -W "$("$tool" "$command" --list-cmds 2>/dev/null)" -- "$cur"))
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
