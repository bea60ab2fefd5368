package supervise

// kernelLargefile is O_LARGEFILE, which x/sys has as 0 where it changes nothing.
const kernelLargefile = 0o100000
