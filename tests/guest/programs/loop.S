// Runs 20,000,011 instructions in user space, counted by hand; its only system call is exit. So `instructions:u` of it is known.
        .global _start
_start: movz    x0, #0x9680             // 10,000,000 = 0x989680
        movk    x0, #0x98, lsl #16
again:  subs    x0, x0, #1
        b.ne    again
        nop
        nop
        nop
        nop
        nop
        nop
        mov     x0, #0
        mov     x8, #93                 // exit
        svc     #0
