// Package archtest holds the rules of the repository as tests: which package
// may import which, what every directory says of itself, how long a file may
// be, words and calls that are not used here, and whether the page's TypeScript
// says the same of calls and structs as Go. It has no code of its own and
// nothing imports it.
//
// The tables in layers_test.go are where a layer is changed: a new package or a
// new third-party import fails the test until a line there says why.
// .golangci.yml repeats the import rules for editors; these tests decide.
package archtest
