"""The whole of citebus on one machine, and the `citebus` command."""
