# bash completion for pawl advise
_pawl() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words
  case $before in
    --policy) words="production lts pb latest" ;;
    --mode) words="container precompiled host_packages" ;;
    --flavour) words="auto open proprietary" ;;
    --mig) words="none mixed_with_full_gpus" ;;
    -o | --output) words="text json yaml" ;;
    --input | --data | --root)
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return
      ;;
    --gpu | --os | --kernel | --kernel-build | --compiler | --driver | --cuda | --framework | --image | --today) return ;;
    *)
      if [ "$COMP_CWORD" -eq 1 ]; then
        words="advise discover doctor plan version"
      elif [ "${COMP_WORDS[1]}" = advise ]; then
        words="--gpu --os --kernel --kernel-build --compiler --secure-boot --mode --flavour --data -o --output --today
          --no-forward-compat --ngc-ready --explain --driver --help"
        case ${COMP_WORDS[2]} in
          matrix | node-image) ;;
          *)
            words="$words --cuda --framework --image --policy --mig --needs-ptx-jit --input --root"
            [ "$COMP_CWORD" -ne 2 ] || words="matrix node-image $words"
            ;;
        esac
      else
        return
      fi
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _pawl pawl
