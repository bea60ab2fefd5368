// Package demo is a scripted model: an http.Handler that speaks enough of the
// Anthropic Messages API for the real Claude Code to run whole turns on it,
// offline and without credentials. Newcomers meet it in the demo channel; tests
// and benchmarks use it because its answers, its pace and its errors are data.
//
// Scripts are JSON files (scripts/*.json here, or a folder given to LoadDir);
// docs/demo.md describes the format. The handler keeps no conversation: each
// request contains the conversation, and the step to answer follows from that, so
// a run goes on in the middle after a restart of Loop. The handler counts one thing
// in memory: how often a step with a limited number of errors has failed.
//
// The daemon, the command line and tests import demo.
package demo
