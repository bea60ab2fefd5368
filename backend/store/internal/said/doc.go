// Package said holds the typed queries of what channels said and showed, which sqlc
// generates from ../../queries/said; only package store may import it. Change the .sql files
// and run `sqlc generate` in backend/store, never the generated files.
package said
