"""The `dpsql` command: a shell, and the commands of analysts and owners. Everything heavy is imported when it is used."""
