// Gives every layer at least one object file, so that a header-only layer is still a library.
