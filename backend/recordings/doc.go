// Package recordings keeps recordings of terminal sessions: asciicast v2 files
// in one folder of Loop's own, which no container sees. Only package daemon may
// import it.
package recordings
