"""Our own schema: checkpoints, threads, runs, steps, approvals."""
