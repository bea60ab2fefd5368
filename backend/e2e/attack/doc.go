//go:build linux

// Command attack tries to do, as a program of an agent, what the gate must not let it
// do. Each attack has an id and works on a folder that a test has made: “attack ID
// FOLDER”. It prints one line of JSON about what the kernel answered. Whether it got
// anywhere is for the test to find out, on the disk and in what came back.
//
// Only the tests of this directory build and start it; nothing imports it. They need
// the build tag docker, an engine and the agent image.
package main
