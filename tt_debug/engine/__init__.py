"""The embedded executor: workflows as data, one child process a run."""
