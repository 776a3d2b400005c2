
# opkit: its options need no "--" before them, --quiet is for both, and the exit codes are 3 environment, 4 damaged, 130 interrupted.
opkit_exit()
{
    # Makeself's own are 1 and, before it extracts, 2 for what is damaged; 15 after a signal; res is 3 while it extracts.
    case "$1:${res-}" in
    2:)
        echo "  help: it isn't whole: copy or download it again" >&2
        exit 4
        ;;
    15:0) exit 130 ;;
    1: | 1:3 | 15:3)
        test -z "${location-}" || test "$keep" = y || rm -rf "$tmpdir"
        exit 3
        ;;
    esac
}
unset res location
trap 'opkit_exit $?' 0
opkit_count=$#
for opkit_side in makeself opkit; do
    test $opkit_side = makeself || set -- "$@" --
    opkit_next=""
    opkit_owner=""
    opkit_argument=""
    opkit_index=0
    while test $opkit_index -lt $opkit_count; do
        opkit_index=$((opkit_index + 1))
        eval "opkit_argument=\${$opkit_index}"
        case "$opkit_next:$opkit_argument" in
        makeself:* | opkit:*)
            opkit_owner=$opkit_next
            opkit_next=
            ;;
        all:*) opkit_owner=makeself ;;
        :-q | :--quiet | rest:-q | rest:--quiet) opkit_owner=$opkit_side ;;
        rest:*) opkit_owner=opkit ;;
        :--)
            opkit_next=rest
            continue
            ;;
        :--target | :--verify-sig | :--ssl-pass-src | :--cleanup-args)
            opkit_owner=makeself
            opkit_next=makeself
            ;;
        :--tar)
            opkit_owner=makeself
            opkit_next=all
            ;;
        :-h | :--help | :--accept | :--info | :--dumpconf | :--lsm | :--list | :--check | :--confirm | :--noexec | :--noexec-cleanup | :--keep | \
            :--noprogress | :--nox11 | :--nochown | :--chown | :--nodiskspace) opkit_owner=makeself ;;
        :--install-path)
            opkit_owner=opkit
            opkit_next=opkit
            ;;
        *) opkit_owner=opkit ;;
        esac
        test "$opkit_owner" != $opkit_side || set -- "$@" "$opkit_argument"
    done
done
shift "$opkit_count"
