// Package archtest holds the rules of the repository as tests: which package may import
// which, the package comment of every directory, how long a file may be, and words and
// calls that are not used here. It also compares the page's TypeScript with Go's calls
// and structs. It has no code of its own, and nothing imports it.
//
// The tables in layers_test.go define the layers: a new package or third-party import
// fails the test until a line there gives the reason. .golangci.yml repeats the import
// rules for editors; these tests decide.
package archtest
