// Package demo is a scripted model: an http.Handler that speaks enough of the
// Anthropic Messages API for the real Claude Code to run whole turns on it,
// offline and without credentials. Newcomers meet it in the demo channel; tests
// and benchmarks use it because its answers, its pace and its errors are data.
//
// Scripts are JSON files (scripts/*.json here, or a folder given to LoadDir);
// docs/demo.md describes the format. The handler keeps no conversation: which
// step to answer follows from the conversation in each request, so a run goes
// on in the middle after Loop was restarted. The one thing counted in memory is
// how often an error with a limited number of repeats was given.
//
// The daemon, the command line and tests import demo; it imports nothing of Loop.
package demo
