# bash completion for allotctl: commands and methods as `allotctl help` lists them, options, and the parameters of a method.
_allotctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} word command= element=0 i
	COMPREPLY=()
	# A word like pod.uid=x is several words to readline; complete only what stands before the sign.
	[[ $cur == "=" || $prev == "=" || $cur == ":" || $prev == ":" ]] && return
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		-s | --socket | --server | --timeout | -o | --output | -n | --namespace | --node | --uid | --uuid | --type | --state | --resource | \
			--last | --after | --nodes | --pods | --policy | --seed | --connections)
			((i++)) ;;
		-* | help) ;;
		*)
			command=$word
			break
			;;
		esac
	done
	case $prev in
	-o | --output)
		COMPREPLY=($(compgen -W "table wide json" -- "$cur"))
		return
		;;
	--policy)
		COMPREPLY=($(compgen -W "binpack spread" -- "$cur"))
		return
		;;
	--state)
		COMPREPLY=($(compgen -W "reserved bound allocated releasing" -- "$cur"))
		return
		;;
	-s | --socket | --nodes | --pods)
		COMPREPLY=($(compgen -f -- "$cur"))
		return
		;;
	--node)
		COMPREPLY=($(compgen -W "$(allotctl --timeout 0.3 nodes 2>/dev/null | awk 'NR > 1 { print $1 }')" -- "$cur"))
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$(allotctl help ${command:+"$command"} 2>/dev/null | grep -o -- '--[a-z]*')" -- "$cur"))
	elif [[ -z $command ]]; then
		COMPREPLY=($(compgen -W "help $(allotctl help 2>/dev/null | sed -n 's/^  \([a-z][a-z.]*\) .*/\1/p')" -- "$cur"))
	elif [[ $command == *.* ]]; then
		# Elements of lists are counted: request.0.type, or the number that is typed already.
		[[ $cur =~ ^[a-z_]+\.([0-9]+)\. ]] && element=${BASH_REMATCH[1]}
		COMPREPLY=($(compgen -S = -W "$(allotctl help "$command" 2>/dev/null |
			sed -n '/^Parameters/,/^$/s/^\([a-z][A-Za-z_.]*\) .*/\1/p' | sed "s/\.N\./.$element./")" -- "$cur"))
		compopt -o nospace 2>/dev/null
	fi
}
complete -F _allotctl allotctl
