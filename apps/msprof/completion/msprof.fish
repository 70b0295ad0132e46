# Completion of msprof for fish. Enable it in ~/.config/fish/config.fish:  msprof completion fish | source

function __msprof_complete
    command msprof __complete -- fish (commandline -cp | string collect) '' 2>/dev/null
end

# -k: in msprof's order, the newest capture first.
complete -c msprof -f -k -a '(__msprof_complete)'
