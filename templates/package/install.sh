#!/bin/sh
# Installs the package that lies beside it, or removes it, as `opkit install` and `opkit uninstall` do: where things are in a prefix is told
# in opkit/packaging/prefix.py, in which order they change in installing.py. It may use nothing but a POSIX shell and coreutils.
set -eu
umask 022
# Messages and the order of names don't depend on the user's.
LC_ALL=C
export LC_ALL

archive=$(pwd)
nl='
'
tab=$(printf '\t')

say() {
    test -n "$quiet" || printf '%s\n' "$1"
}

warn() {
    printf 'warning: %s\n' "$1" >&2
}

fail() { # exit code, what, because, help
    printf 'error: %s\n  because: %s\n' "$2" "$3" >&2
    test -z "${4-}" || printf '  help: %s\n' "$4" >&2
    exit "$1"
}

# Runs a step that changes the disk; what refuses it is told, and nothing after it is done.
must() {
    refusal=$("$@" 2>&1) || fail 3 "cannot write $prefix" "$refusal" "name a folder that can be written with --install-path DIR"
}

# --- what the user wants

read_arguments() {
    action=install
    prefix=
    prefix_from=
    while test $# -gt 0; do
        case $1 in
        --install-path)
            test $# -ge 2 || fail 2 "--install-path needs a folder" "nothing comes after it" "--install-path DIR"
            prefix=$2
            prefix_from=--install-path
            shift
            ;;
        --install-path=*)
            prefix=${1#*=}
            prefix_from=--install-path
            ;;
        --uninstall) action=uninstall ;;
        -q | --quiet) quiet=yes ;;
        -h | --help) action=help ;;
        *) fail 2 "no such option: $1" "there are --install-path DIR, --uninstall, --quiet and --help" "options of makeself go before them: --help" ;;
        esac
        shift
    done
}

find_prefix() {
    if test -z "$prefix_from"; then
        if test -n "${OPKIT_PREFIX-}"; then
            prefix=$OPKIT_PREFIX
            prefix_from=OPKIT_PREFIX
        else
            default_prefix
        fi
    fi
    case $prefix in
    '') fail 2 "$prefix_from is empty" "it has to name a folder" "name one: --install-path DIR" ;;
    *:*) fail 2 "$prefix_from isn't one folder: $prefix" "a ':' separates the folders of ASCEND_CUSTOM_OPP_PATH" "name one folder: --install-path DIR" ;;
    *[[:cntrl:]]*) fail 2 "$prefix_from isn't the name of a folder" "it holds a control character" "name another: --install-path DIR" ;;
    /*) ;;
    *) fail 2 "$prefix_from isn't an absolute path: $prefix" "what it is relative to differs from one call to the next" "--install-path \"\$PWD/$prefix\"" ;;
    esac
    normalise
    test -n "$prefix" || fail 2 "$prefix_from is the root folder" "packages need a folder of their own" "name another: --install-path DIR"
    state=$prefix/.opkit
    versions=$state/$package
    receipt=$state/$package.json
    draft=$state/.link.$package
    link=$prefix/$package
}

default_prefix() {
    case ${XDG_DATA_HOME-} in
    # What isn't absolute is to be ignored, says the specification of XDG_DATA_HOME.
    /*)
        prefix=$XDG_DATA_HOME/opkit/opp
        prefix_from=XDG_DATA_HOME
        return 0
        ;;
    esac
    case ${HOME-} in
    /*)
        test -d "$HOME" || fail 3 "no folder to install to" "HOME is $HOME, which is no folder" "name one: --install-path DIR"
        prefix=$HOME/.local/share/opkit/opp
        prefix_from=HOME
        ;;
    *) fail 3 "no folder to install to" "neither OPKIT_PREFIX, XDG_DATA_HOME nor HOME names an absolute path" "name one: --install-path DIR" ;;
    esac
}

# Of the path alone, since the prefix may be a link that somebody moves.
normalise() {
    rest=$prefix/
    prefix=
    while test -n "$rest"; do
        part=${rest%%/*}
        rest=${rest#*/}
        case $part in
        '' | .) ;;
        ..) prefix=${prefix%/*} ;;
        *) prefix=$prefix/$part ;;
        esac
    done
}

# --- what this machine is

require_machine() {
    machine=$(uname -m)
    case $machine in
    amd64) machine=x86_64 ;;
    arm64) machine=aarch64 ;;
    esac
    test "$machine" = "$arch" || fail 3 "$package $version is for $arch" "this machine is $machine" "get the installer for $machine"
    test -n "$glibc" || return 0
    if ! command -v getconf >/dev/null; then
        warn "$package $version needs glibc $glibc, and without getconf nobody knows which one is here"
        return 0
    fi
    found=$(getconf GNU_LIBC_VERSION 2>/dev/null) || found=
    found=${found##* }
    is_at_least "$found" "$glibc" ||
        fail 3 "$package $version needs glibc $glibc" "this machine has ${found:-another C library}" "build it on an older system"
}

is_at_least() { # version, floor
    case $1 in [0-9]*.[0-9]*) ;; *) return 1 ;; esac
    minor=${1#*.} floor_minor=${2#*.}
    test "${1%%.*}" -gt "${2%%.*}" || { test "${1%%.*}" -eq "${2%%.*}" && test "${minor%%.*}" -ge "${floor_minor%%.*}"; }
}

# Sets `nearest` to the path, or to the first above it that is there.
find_nearest() {
    nearest=$1
    while test -n "$nearest" && ! test -e "$nearest" && ! test -L "$nearest"; do nearest=${nearest%/*}; done
    nearest=${nearest:-/}
}

whose() {
    printf '%s is owned by uid %s; you are uid %s' "$1" "$(stat -c '%u, mode %04a' "$1")" "$(id -u)"
}

require_writable() {
    find_nearest "$1"
    test ! -d "$nearest" || test ! -w "$nearest" || test ! -x "$nearest" || return 0
    because="$nearest is no folder"
    test ! -d "$nearest" || because=$(why_not_writable "$nearest")
    test -e "$nearest" || because="$nearest is a link to $(readlink "$nearest"), which isn't there"
    fail 3 "cannot write $prefix" "$because" "name another folder with --install-path DIR"
}

why_not_writable() { # a folder that refuses: what the system says of it when it is asked
    if refusal=$(mkdir "$1/.opkit.$$" 2>&1); then
        rmdir "$1/.opkit.$$"
    fi
    case $refusal in
    *'Read-only file system'*) printf '%s lies on a read-only file system' "$1" ;;
    *) whose "$1" ;;
    esac
}

# Within a package a prefix would be a part of what its next version takes for somebody's.
require_no_package_around() {
    find_nearest "$prefix"
    for above in "$prefix" "$(cd "$nearest" 2>/dev/null && pwd -P)"; do
        while test -n "$above"; do
            test ! -e "$above/opkit-manifest.json" ||
                fail 2 "$prefix lies in a package" "$above has opkit-manifest.json; packages have a folder of their own" "name another folder with --install-path DIR"
            above=${above%/*}
        done
    done
}

# What is behind a folder that can't be entered isn't known, which isn't the same as not there.
require_reachable() {
    find_nearest "$1"
    test ! -d "$nearest" || test -x "$nearest" || fail 3 "cannot read $prefix" "$(whose "$nearest")" "chmod u+rx $nearest"
}

# --- the prefix

lock() {
    command -v flock >/dev/null || return 0
    tries=0
    while :; do
        # By `command`, since a shell ends when its own `exec` fails.
        if ! { command exec 9>>"$state/.lock"; } 2>/dev/null; then
            # Another installation removes the prefix that it leaves empty.
            test ! -d "$state" || must touch "$state/.lock"
            make_state
            continue
        fi
        until flock -n 9; do
            test $tries -lt 60 || fail 75 "$prefix is in use by another installation" "it still holds its lock after $tries s" "try again"
            test $tries -gt 0 || say "waiting for another installation in $prefix"
            tries=$((tries + 1))
            sleep 1
        done
        test "$(stat -Lc %d:%i "$state/.lock" 2>&1)" != "$(stat -Lc %d:%i /proc/self/fd/9 2>&1)" || break
    done
    printf '{"pid": %s}' $$ >"$state/.lock" || :
}

# Sets `made` to the outermost folder that it really made: others make and remove them at the same time.
make_state() {
    attempts=0
    until test -d "$state"; do
        missing=$state
        while ! test -d "${missing%/*}/"; do missing=${missing%/*}; done
        if refusal=$(mkdir "$missing" 2>&1); then
            test "$missing" = "$state" || { test -n "$made" && test ${#made} -lt ${#missing}; } || made=$missing
        else
            attempts=$((attempts + 1))
            test $attempts -lt 100 || fail 3 "cannot write $prefix" "$refusal" "name a folder that can be written with --install-path DIR"
        fi
    done
}

# What wasn't noted yet; a folder that another one works in isn't empty.
leave_made() {
    test -n "$made" || return 0
    empty=$state
    until test "$empty" = "${made%/*}"; do
        rmdir "$empty" 2>/dev/null || test ! -d "$empty" || return 0
        empty=${empty%/*}
    done
}

# How many folders were made for the prefix, so that they go with the last package; not if the prefix was moved.
note_made() {
    test -n "$made" || return 0
    levels=0
    folder_made=$prefix
    until test "$folder_made" = "${made%/*}"; do
        levels=$((levels + 1))
        folder_made=${folder_made%/*}
    done
    must write "$state/.made" "$levels$nl$prefix"
}

write() { # file, content: whole or not at all
    unfinished=${1##*/}
    unfinished=${1%/*}/.${unfinished#.}.$$
    rm -f "$unfinished"
    # Never through a link that lies in wait there.
    if (set -C && printf '%s\n' "$2" >"$unfinished") && chmod 0644 "$unfinished" && mv -T "$unfinished" "$1"; then return 0; fi
    rm -f "$unfinished"
    return 1
}

# The folder that the link names, if the link is opkit's; it needn't exist.
read_link() {
    in_use=
    target=$(readlink "$link") || return 0
    case $target in
    .opkit/"$package"/*/* | .opkit/"$package"/.* | .opkit/"$package"/) ;;
    .opkit/"$package"/*) in_use=${target##*/} ;;
    esac
}

is_folder() {
    test -d "$1" && test ! -L "$1"
}

# Best effort.
remove_tree() {
    rm -rf "$1" 2>/dev/null || {
        open_folders "$1"
        rm -rf "$1" 2>/dev/null || :
    }
}

open_folders() {
    { test -r "$1" && test -w "$1" && test -x "$1"; } || chmod u+rwx "$1" 2>/dev/null || return 0
    for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
        ! is_folder "$entry" || open_folders "$entry"
    done
}

# Sets `free` to a name in the folder of versions that nothing has yet.
find_free() { # name
    free=$1
    number=1
    while test -e "$versions/$free" || test -L "$versions/$free"; do
        number=$((number + 1))
        free=$1.$number
    done
}

make_stage() {
    find_free .stage
    # Closed until it is whole: what is carried over may lie in a folder that others mustn't see into.
    must mkdir -m 0700 "$versions/$free"
    stage=$versions/$free
}

remove_unfinished() {
    for unfinished in "$versions"/.stage "$versions"/.stage.*; do remove_tree "$unfinished"; done
    rm -rf "$draft" "$state"/."$package".json.* "$state"/.made.* 2>/dev/null || :
}

# Whether it is a folder of the versions that opkit makes; what has another name is somebody's.
is_version() { # name
    is_folder "$versions/$1" || return 1
    plain=$1
    case ${1##*.} in '' | *[!0-9]*) ;; *) plain=${1%.*} ;; esac
    case $plain in
    left) ;;
    *-????????????) case ${plain##*-} in *[!0-9a-f]*) return 1 ;; esac ;;
    *) return 1 ;;
    esac
}

# Removes what isn't in use. What lies there without a link may hold something of somebody's.
sweep() {
    remove_unfinished
    read_link
    test -n "$in_use" || return 0
    for lying in "$versions"/*; do
        test "$lying" = "$versions/$in_use" || ! is_version "${lying##*/}" || remove_tree "$lying"
    done
}

leave_if_empty() {
    test ! -d "$versions" || rmdir "$versions" 2>/dev/null || return 0
    test -d "$state" || return 0
    for entry in "$state"/* "$state"/.[!.]* "$state"/..?*; do
        case ${entry##*/} in
        .lock | .made) ;;
        *) test ! -e "$entry" && test ! -L "$entry" || return 0 ;;
        esac
    done
    levels=0
    home=
    test ! -f "$state/.made" || { read -r levels && IFS= read -r home; } <"$state/.made" || :
    rm -f "$state/.made" "$state/.lock"
    rmdir "$state" 2>/dev/null || return 0
    case $levels in '' | *[!0-9]*) levels=0 ;; esac
    test "$home" = "$prefix" || test "$levels" -eq 0 || levels=1
    empty=$prefix
    while test "$levels" -gt 0 && rmdir "$empty" 2>/dev/null; do
        levels=$((levels - 1))
        empty=${empty%/*}
    done
}

# --- what is opkit's in a version, as lines of path, tab, SHA-256; no path holds a quote, a brace, a backslash or a control character, which
# opkit/packaging/entries.py sees to

utf8() { # code point
    if test "$1" -lt 128; then
        set -- "$1"
    elif test "$1" -lt 2048; then
        set -- $((192 + $1 / 64)) $((128 + $1 % 64))
    elif test "$1" -lt 65536; then
        set -- $((224 + $1 / 4096)) $((128 + $1 / 64 % 64)) $((128 + $1 % 64))
    else
        set -- $((240 + $1 / 262144)) $((128 + $1 / 4096 % 64)) $((128 + $1 / 64 % 64)) $((128 + $1 % 64))
    fi
    for byte; do printf '%b' "\\0$(printf %o "$byte")"; done
}

# Sets `plain` to a text of JSON without its escapes: what isn't ASCII is all that a path of opkit's has.
unescape() {
    plain=
    rest=$1
    high=0
    while :; do
        case $rest in
        *\\u????*) ;;
        *) break ;;
        esac
        plain=$plain${rest%%\\u*}
        rest=${rest#*\\u}
        digits=${rest%"${rest#????}"}
        rest=${rest#????}
        case $digits in *[!0-9a-fA-F]*) return 0 ;; esac
        code=$((0x$digits))
        if test $code -ge 55296 && test $code -lt 56320; then
            high=$code
            continue
        elif test $code -ge 56320 && test $code -lt 57344; then
            code=$((65536 + (high - 55296) * 1024 + code - 56320))
        fi
        plain=$plain$(utf8 $code)
    done
    plain=$plain$rest
}

text_of() { # key, object: the text after it
    rest=${2#*\""$1"\"*\"}
    printf '%s' "${rest%%\"*}"
}

list_file() { # path as JSON has it, SHA-256
    unescape "$1"
    case /$plain/ in *//* | */../* | */./* | *\\*) ;; *) printf '%s\t%s\n' "$plain" "$2" ;; esac
}

# Those of one version by its receipt.
list_receipt() { # folder
    test -f "$receipt" && test -r "$receipt" || return 0
    of=
    before=
    # shellcheck disable=SC2020 # both are newlines
    tr -d '\n' <"$receipt" | tr '{}' '\n\n' | while IFS= read -r object; do
        case $object in *'"folder":'*) of=$(text_of folder "$object") ;; esac
        test "$of" = "$1" || continue
        case $object in
        *'"manifest":'*) printf 'opkit-manifest.json\t%s\n' "$(text_of manifest "$object")" ;;
        *'"sha256":'*'"mode":'*)
            before=${before%\"*}
            list_file "${before##*\"}" "$(text_of sha256 "$object")"
            ;;
        esac
        before=$object
    done
}

# Those of one version by its manifest.
list_manifest() { # folder
    manifest=$versions/$1/opkit-manifest.json
    test -f "$manifest" || return 0
    require_readable "$manifest"
    # shellcheck disable=SC2020
    listed=$(tr -d '\n' <"$manifest" | tr '{}' '\n\n' | while IFS= read -r object; do
        case $object in
        *'"path"'*'"sha256"'* | *'"sha256"'*'"path"'*) list_file "$(text_of path "$object")" "$(text_of sha256 "$object")" ;;
        esac
    done)
    test -n "$listed" || return 0
    sum=$(sha256sum <"$manifest")
    printf 'opkit-manifest.json\t%s\n%s\n' "${sum%% *}" "$listed"
}

list_ours() { # folder
    ours=$(list_receipt "$1")
    test -n "$ours" || ours=$(list_manifest "$1") || exit
    ours=$nl$ours$nl
}

# --- what isn't opkit's: it stays, what was edited by a name beside its own

require_readable() {
    if test -r "$1"; then
        test -d "$1" || return 0
        test ! -x "$1" || return 0
    fi
    fail 3 "cannot read $1" "$(whose "$1")" "let yourself read it: chmod u+rX $1; or move it away"
}

each_file() { # folder, command: calls it with the path of all that is no folder
    for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
        if is_folder "$entry"; then
            require_readable "$entry"
            each_file "$entry" "$2"
        elif test -e "$entry" || test -L "$entry"; then
            "$2" "${entry#"$versions/$old/"}"
        fi
    done
}

each_folder() { # folder, command: calls it with the path of each folder below, the inner ones first
    for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
        is_folder "$entry" || continue
        each_folder "$entry" "$2"
    done
    test "$1" = "$versions/$old" || "$2" "${1#"$versions/$old/"}"
}

is_known() { # list, path
    case $1 in *"$nl$2$tab"*) ;; *) return 1 ;; esac
}

is_ours() { # path: neither foreign nor edited, or just what the new version brings
    test -f "$versions/$old/$1" && test ! -L "$versions/$old/$1" || return 1
    require_readable "$versions/$old/$1"
    sum=$(sha256sum <"$versions/$old/$1")
    case $ours$new in *"$nl$1$tab${sum%% *}$nl"*) ;; *) return 1 ;; esac
}

keep_foreign() {
    is_known "$ours" "$1" || is_ours "$1" || keep "$1" "$1"
}

keep_edited() {
    ! is_known "$ours" "$1" || is_ours "$1" || keep "$1" "$1.edited"
}

is_same() { # two files
    test -f "$1" && test ! -L "$1" && test -f "$2" && test ! -L "$2" && test "$(sha256sum <"$1")" = "$(sha256sum <"$2")"
}

# Sets `place` to where a path goes in the stage: a folder above it may be a file now.
find_place() {
    place=$1
    above=$1
    while :; do
        case $above in
        */*) above=${above%/*} ;;
        *) break ;;
        esac
        if test -e "$stage/$above" && test ! -d "$stage/$above"; then place=$above.edited${place#"$above"}; fi
    done
}

keep() { # path, wanted place
    # Of several versions the one before may have had the same.
    ! is_same "$versions/$old/$1" "$stage/$1" || return 0
    find_place "$1"
    test "$place" != "$1" || place=$2
    free=$place
    number=1
    while test -e "$stage/$free" || test -L "$stage/$free"; do
        free=${place%.edited}.edited
        test $number -eq 1 || free=$free.$number
        number=$((number + 1))
    done
    case $free in */*) must mkdir -p "$stage/${free%/*}" ;; esac
    must cp -RpP "$versions/$old/$1" "$stage/$free"
    kept=$kept$nl"  $free"
}

# A folder keeps its mode, and that of somebody goes with an upgrade even if it is empty, unless the new version has something there.
keep_folder() { # path
    case $new in *"$nl$1/"*) return 0 ;; esac
    find_place "$1"
    if ! is_folder "$stage/$place"; then
        test "$action$place" = "install$1" && test ! -e "$stage/$place" && test ! -L "$stage/$place" || return 0
        case $ours in *"$nl$1/"*) return 0 ;; esac
        must mkdir -p "$stage/$place"
    fi
    test "$(id -u)" -ne 0 || must chown "$(stat -c %u:%g "$versions/$old/$1")" "$stage/$place"
    must chmod "$(stat -c %a "$versions/$old/$1")" "$stage/$place"
}

keep_others() { # folder: into the stage
    old=$1
    before=$kept
    require_readable "$versions/$old"
    each_file "$versions/$old" keep_foreign
    each_file "$versions/$old" keep_edited
    # Folders alone are no reason to keep anything of a version that no link names.
    test -n "$in_use" || test "$kept" != "$before" || return 0
    each_folder "$versions/$old" keep_folder
}

# --- the two things to do

require_own() {
    read_link
    test -n "$in_use" || { test ! -e "$link" && test ! -L "$link"; } ||
        fail 2 "$prefix holds $package, which opkit didn't put there" "$link is no link into $state" "remove it, or name another folder with --install-path DIR"
}

require_sums() { # folder
    verdict=$(cd "$1" && sha256sum -c "$archive/SHA256SUMS" 2>&1) || fail 4 "$1 is damaged" "$(told_of "$verdict")" "get the installer again"
}

told_of() { # what sha256sum printed
    printf '%s\n' "$1" | while IFS= read -r line; do
        case $line in *': OK' | 'sha256sum: WARNING'*) ;; *) printf '%s; ' "$line" ;; esac
    done
}

undo() {
    status=$?
    set +e
    trap '' INT TERM HUP
    trap - EXIT
    if test -n "$is_locked"; then
        # It is made by renaming the stage: until that is gone, what has the name isn't of this installation.
        test -z "$folder" || test ! -e "$stage" || folder=
        remove_unfinished
        # The link alone says which version is in use: a signal may come right after it was renamed.
        read_link
        test -z "$folder" || test "$folder" = "$in_use" || {
            remove_tree "$versions/$folder"
            if test -n "$receipt_before"; then write "$receipt" "$receipt_before"; else rm -f "$receipt"; fi
        }
        leave_if_empty
    fi
    leave_made
    exit "$status"
}

begin() {
    is_locked=''
    folder=''
    stage=''
    receipt_before=''
    made=''
    trap undo EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
}

write_receipt() { # the receipts to keep
    text=$(cat "$archive/receipt.json")
    sum=$(sha256sum <"$archive/opp/opkit-manifest.json")
    source=$installer
    bundle=${MS_BUNDLE-}
    bundle=${bundle#./}
    case $bundle in
    '') ;;
    /*) ;;
    *) bundle=${USER_PWD-}/$bundle ;;
    esac
    if test -f "$bundle"; then
        sum=$(sha256sum <"$bundle")
        case $bundle in *[!\ -~]* | *\"* | *\\*) ;; *) source=$bundle ;; esac
    fi
    now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
    filled=
    for value in "$folder" "$source" "${sum%% *}" "$now"; do
        filled=$filled${text%%@*}$value
        text=${text#*@}
        text=${text#*@}
    done
    text=$filled$text
    must write "$receipt" "${text%%\[*}[$1${text#*\[}"
}

install() {
    require_machine
    require_sums "$archive/opp"
    require_no_package_around
    for place in "$prefix" "$state" "$versions"; do require_writable "$place"; done
    require_own
    begin
    make_state
    lock
    is_locked=yes
    note_made
    sweep
    require_own
    must mkdir -p "$versions"
    make_stage
    new=$nl
    while IFS= read -r line; do
        path=${line#*  }
        new=$new$path$tab${line%%  *}$nl
        case $path in */*) test -d "$stage/${path%/*}" || must mkdir -p "$stage/${path%/*}" ;; esac
        must cp "$archive/opp/$path" "$stage/$path"
        mode=0644
        case $path in *.so) mode=0755 ;; esac
        must chmod "$mode" "$stage/$path"
    done <"$archive/SHA256SUMS"
    require_sums "$stage"
    kept=
    receipts=
    test ! -f "$receipt" || receipt_before=$(cat "$receipt")
    if test -n "$in_use"; then
        list_ours "$in_use"
        test ! -d "$versions/$in_use" || keep_others "$in_use"
        case $receipt_before in
        *'"layout": 1,'*'"installs": ['*'{'*']'*)
            receipts=${receipt_before#*\[}
            receipts=${receipts%]*},
            ;;
        esac
    else
        # Without a link: what an interrupted removal left, or somebody's.
        for lying in "$versions"/*; do
            is_version "${lying##*/}" || continue
            list_ours "${lying##*/}"
            keep_others "${lying##*/}"
        done
    fi
    sum=$(sha256sum <"$archive/opp/opkit-manifest.json")
    # The same again: the one in use keeps its name.
    find_free "$version-$(printf %.12s "$sum")"
    folder=$free
    must chmod 0755 "$stage"
    must mv -T "$stage" "$versions/$folder"
    write_receipt "$receipts"
    must ln -s ".opkit/$package/$folder" "$draft"
    must mv -T "$draft" "$link"
    # That of the version before goes with it; if it can't, no harm is done.
    (write_receipt "") 2>/dev/null || :
    sweep
    say "installed $package $version -> $link"
    test -z "$kept" || say "kept, because opkit didn't put it there or it was edited since:$kept"
    test "$built_against" != simulator || warn "$package $version was built against the host simulator; it is no package for a device"
    say "activate it with:"
    say "export ASCEND_CUSTOM_OPP_PATH=$(quoted "$link")\"\${ASCEND_CUSTOM_OPP_PATH:+:\$ASCEND_CUSTOM_OPP_PATH}\""
}

quoted() {
    case $1 in *[!A-Za-z0-9/._-]*) ;; *) printf '%s' "$1" && return ;; esac
    rest=$1
    while :; do
        case $rest in
        *\'*) printf "'%s'\\\\'" "${rest%%\'*}" ;;
        *) break ;;
        esac
        rest=${rest#*\'}
    done
    printf "'%s'" "$rest"
}

uninstall() {
    for place in "$prefix" "$state" "$versions"; do require_reachable "$place"; done
    read_link
    # By the link: of a package whose files are gone it is what is left.
    if test -z "$in_use" && ! test -d "$versions"; then
        say "$package isn't installed in $prefix"
        return 0
    fi
    for place in "$prefix" "$state" "$versions"; do require_writable "$place"; done
    begin
    make_state
    lock
    is_locked=yes
    note_made
    sweep
    new=$nl
    kept=
    if test -z "$in_use"; then
        remove_lying
        say "$package isn't installed in $prefix"
        return 0
    fi
    list_ours "$in_use"
    if test -d "$versions/$in_use" && test "$ours" = "$nl$nl"; then
        case $in_use in
        left | left.*) ;;
        *) fail 4 "cannot remove $package from $prefix" "which of its files are opkit's isn't known: neither receipt nor manifest can be read" \
            "install it again, then remove it" ;;
        esac
        say "$package isn't installed in $prefix; what lies in $link isn't opkit's"
        return 0
    fi
    if test -d "$versions/$in_use"; then
        make_stage
        keep_others "$in_use"
    fi
    removed=$in_use
    if test -z "$kept"; then
        must rm -f "$link"
        remove_tree "$versions/$removed"
    else
        find_free left
        must chmod 0755 "$stage"
        must mv -T "$stage" "$versions/$free"
        must ln -s ".opkit/$package/$free" "$draft"
        must mv -T "$draft" "$link"
        sweep
    fi
    # What can't be removed stays known as opkit's.
    if test -d "$versions/$removed"; then
        warn "not all of $versions/$removed could be removed"
    else
        must rm -f "$receipt"
    fi
    say "removed $package from $prefix"
    test -z "$kept" || say "left in $link, because opkit didn't put it there or it was edited since:$kept"
}

# What an interrupted removal left; somebody's files stay.
remove_lying() {
    for lying in "$versions"/*; do
        old=${lying##*/}
        is_version "$old" || continue
        require_readable "$lying"
        list_ours "$old"
        kept=
        each_file "$lying" note_other
        test -n "$kept" || remove_tree "$lying"
    done
    ! rmdir "$versions" 2>/dev/null || must rm -f "$receipt"
}

note_other() {
    is_ours "$1" || kept=$kept$nl$1
}

quiet=
read_arguments "$@"
package='' version='' arch='' glibc='' built_against='' installer=''
# shellcheck source=/dev/null
. ./package
case $action in
help) cat help ;;
*)
    find_prefix
    $action
    ;;
esac
