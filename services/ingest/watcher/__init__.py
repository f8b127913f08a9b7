"""The only part that mounts the vault: turns files into FileChanged."""
