# Read by fish after the person's own files.

if status is-interactive; and test "$LOOP_SHELL_INTEGRATION" != 0; and test -z "$TMUX$STY"; and not string match -qr '^(screen|tmux|dumb)' -- "$TERM"; and not set -q __loop_marks

    # Since 4.0 fish itself says A, C, D and where it is.
    if string match -qr '^[0-3]\.' -- $version
        set -g __loop_marks ours
    else
        set -g __loop_marks fish
    end

    function __loop_before --on-event fish_preexec
        if test -n "$argv[1]"; and not string match -q ' *' -- "$argv[1]"
            set -l text (string sub -l 2048 -- "$argv[1]" | string collect)
            set text (string replace -a '\\' '\\\\' -- $text | string replace -a ';' '\\x3b' | string collect)
            if string match -qr '[\x01-\x1f\x7f]' -- $text
                for i in (seq 1 31) 127
                    set -l hex (printf '%02x' $i)
                    set text (string replace -a -- (printf "\\x$hex" | string collect -N) "\\x$hex" $text | string collect)
                end
            end
            printf '\e]633;E;%s\a' $text
        end
        if test $__loop_marks = ours
            printf '\e]133;C\a'
        end
    end

    if test $__loop_marks = ours
        function __loop_after --on-event fish_postexec
            printf '\e]133;D;%s\a' $status
        end

        function __loop_prompt --on-event fish_prompt
            printf '\e]7;file://%s%s\a\e]133;A\a' $hostname (string escape --style=url -- $PWD)
        end
    end

    if functions -q fish_prompt
        functions --copy fish_prompt __loop_fish_prompt
        function fish_prompt --description 'the prompt, and where it ends'
            __loop_fish_prompt
            printf '\e]133;B\a'
        end
    end
end
