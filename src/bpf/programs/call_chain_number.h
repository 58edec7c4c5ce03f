// What programs with call_chains.h and their loaders agree on.
#pragma once

/* In the number of a call chain: it is in `spare_stacks`, not in `stacks`. */
#define IN_SPARE_STACKS 0x40000000
