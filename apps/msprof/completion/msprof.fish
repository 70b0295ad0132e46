# Completion of msprof for fish. Switch it on in ~/.config/fish/config.fish:  msprof completion fish | source

function __msprof_complete
    command msprof __complete -- fish (commandline -cp | string collect) '' 2>/dev/null
end

complete -c msprof -f -a '(__msprof_complete)'
