package vt

// Bounds of what a program can make a Terminal hold. Beyond them output is drawn
// without the part that is too much.
const (
	maxCols = 2000 // the session clamps to 1000 by 500; xterm.js has no limit
	maxRows = 2000
	minCols = 2 // xterm.js's own minimum: a wide character must fit
	minRows = 1

	defaultScrollback = 10000 // lines; the page's setting

	maxTabs = maxCols + 64 // columns with a tab stop; one may be set past the edge while a wrap is pending

	maxOSC        = 16 << 10 // bytes of an OSC that is acted on; the longest wanted is a link's address
	maxURI        = 8 << 10  // of one link; browsers and VTE stop at 2 KiB
	maxLinkBytes  = 8 << 20  // of all links that cells still show, in each of their styles
	maxComb       = 256      // bytes in one cell; far above any script's stacks
	maxCombBytes  = 16 << 20 // of all cells with combining characters
	maxPending    = 64 << 10 // bytes of an incomplete sequence kept for a snapshot
	maxDir        = 4096     // PATH_MAX
	maxMark       = 4096     // bytes of a mark's argument: a command line
	maxMarkBytes  = 2 << 20  // of all marks in lines: some tens of thousands
	repeatLines   = 4        // columns of so many lines are printed by one repetition: no more work than a few line feeds
	maxAnswerLine = 64       // bytes of the longest answer
)
