"""The commands of the shell, one module each: arguments in, calls of `polyculture.api` out; no logic."""
