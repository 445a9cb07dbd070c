"""Values turned into rows of styled pieces: pure, without an app, without colours, without input or output."""
