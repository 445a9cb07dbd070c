"""The cases, by subject: each module's ``cases(size)`` gives its own, up to ``size`` checkpoints a thread."""
