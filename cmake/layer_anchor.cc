// Gives every layer at least one object file, so that a layer of headers only is still a library.
