//go:build linux

package main

// olderPathCalls are those that arm64 does not have.
func olderPathCalls(place) []pathCall { return nil }
